#pragma once
// Whether bytes are text that every later consumer (JSON, SQLite, HTML, compilers) can take.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace kw {

/// Offset of the first byte that is NUL or not part of well-formed UTF-8 (RFC 3629: no surrogates, no overlong forms);
/// nothing when all of it is text.
[[nodiscard]] std::optional<std::size_t> first_non_text_byte(std::string_view bytes);

/// The same text with U+FFFD for each byte that is NUL or not part of well-formed UTF-8.
[[nodiscard]] std::string replace_non_text(std::string_view bytes);

}  // namespace kw
