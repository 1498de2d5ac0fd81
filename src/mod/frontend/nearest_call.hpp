#pragma once
// What somebody may have meant who called a function that a mod cannot call.

#include <optional>
#include <string>
#include <string_view>

namespace kw {

/// A function of the same module that is spelt nearly like `path`, such as "torch.where" for "torch.wher". Nothing for
/// a function that torch or math do have: it is no slip, and its neighbour in spelling would be a wrong answer.
[[nodiscard]] std::optional<std::string> nearest_call(std::string_view path);

}  // namespace kw
