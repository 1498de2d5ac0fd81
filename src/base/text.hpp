#pragma once
// Small things done to text in many places. Letters are those of ASCII, whatever the locale; bytes of other characters
// stay as they are.

#include <string>
#include <string_view>

namespace kw {

[[nodiscard]] std::string lower_case(std::string_view text);

/// Without spaces, tabs and line ends before and after it; a part of `text`.
[[nodiscard]] std::string_view trimmed(std::string_view text);

/// Every run of blanks and control characters as one space, none at the ends.
[[nodiscard]] std::string on_one_line(std::string_view text);

/// One word of a POSIX shell's command line that means `text`: as it is where nothing in it is special, else quoted.
[[nodiscard]] std::string shell_word(std::string_view text);

}  // namespace kw
