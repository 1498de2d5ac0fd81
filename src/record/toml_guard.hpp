#pragma once
// What toml++ 3.3 must not be shown. Fuzzing found two kinds of malformed text that it does not refuse: it asserts or
// runs into undefined behaviour instead, and our headers are untrusted bytes.

#include <optional>
#include <string>
#include <string_view>

namespace kw {

/// The number, counted from 0, of the first line that starts with a bracket but is no [table] or [[table]] line. No
/// line of a bundle's header starts with a bracket for any other reason.
[[nodiscard]] std::optional<int> malformed_table_line(std::string_view toml_text);

/// The same TOML in ASCII, every other character written as \uXXXX: the same string inside double quotes, nothing
/// inside a comment, and an ordinary syntax error where toml++ would look the character up in tables that do not hold
/// it. (Inside single quotes, where TOML knows no escapes, the escape stays.) `utf8` must be well formed.
[[nodiscard]] std::string in_ascii(std::string_view utf8);

}  // namespace kw
