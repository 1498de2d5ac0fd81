#pragma once
// Strings that come from outside (compiler logs, model output, candidate source) and may be any bytes, as text.

#include <optional>
#include <string>
#include <string_view>

namespace kw {

/// For display: every byte that is NUL or not part of well-formed UTF-8 becomes U+FFFD. Text comes back unchanged.
[[nodiscard]] std::string to_displayable_text(std::string_view bytes);

/// Every byte as the code point of the same number; lossless for any bytes.
[[nodiscard]] std::string latin1_to_utf8(std::string_view bytes);
/// The reverse, of well-formed UTF-8; nothing when a character is above U+00FF.
[[nodiscard]] std::optional<std::string> utf8_to_latin1(std::string_view text);

}  // namespace kw
