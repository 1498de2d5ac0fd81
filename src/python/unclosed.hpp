#pragma once
// Why the rest of a Python file may have gone unread: a bracket or a string in three quotes that nothing closes takes
// everything below it for its own.

#include <optional>
#include <string_view>

#include "base/result.hpp"

namespace kw {

/// errc::mod_syntax at the innermost bracket, or at the string, that is still open where `text` ends; nothing when all
/// are closed. A string in single quotes ends with its line.
[[nodiscard]] std::optional<Error> unclosed_python(std::string_view text);

}  // namespace kw
