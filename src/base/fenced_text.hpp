#pragma once
// Text between Markdown fences that nothing inside can close.

#include <string>
#include <string_view>

namespace kw {

/// The fence is longer than any run of backticks in `text`. Ends with a newline. Bytes that are no text become U+FFFD.
[[nodiscard]] std::string fenced(std::string_view language, std::string_view text);

}  // namespace kw
