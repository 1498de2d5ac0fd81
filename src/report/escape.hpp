#pragma once
// Untrusted text made harmless for the format it is printed into. Everything a printer did not write itself goes
// through here: names, messages, logs and sources come from users, compilers, models and candidates.

#include <string>
#include <string_view>

namespace kw {

/// For element content and quoted attributes alike. Bytes that are no text become U+FFFD, control characters too.
[[nodiscard]] std::string escape_html(std::string_view text);

/// For one cell of a Markdown table or one line of text: no markup, no HTML, no line break survives.
[[nodiscard]] std::string escape_markdown(std::string_view text);

/// For a block of text in a fence (base/fenced_text.hpp): control characters become U+FFFD, lines stay.
[[nodiscard]] std::string escape_code(std::string_view text);

/// For a terminal: control characters, which could move the cursor or set the title, become U+FFFD; line breaks and
/// tabs become spaces.
[[nodiscard]] std::string escape_terminal(std::string_view text);

}  // namespace kw
