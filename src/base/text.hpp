#pragma once
// Small things done to text in many places. Letters are those of ASCII, whatever the locale; bytes of other characters
// stay as they are.

#include <fmt/format.h>

#include <functional>
#include <iterator>
#include <string>
#include <string_view>

namespace kw {

[[nodiscard]] std::string lower_case(std::string_view text);

/// Without spaces, tabs and line ends before and after it; a part of `text`.
[[nodiscard]] std::string_view trimmed(std::string_view text);

/// Every run of blanks and control characters as one space, none at the ends.
[[nodiscard]] std::string on_one_line(std::string_view text);

/// Every `from` in `text` becomes `to`. `from` is not empty.
void replace_all(std::string& text, std::string_view from, std::string_view to);

/// One word of a POSIX shell's command line that means `text`: as it is where nothing in it is special, else quoted.
[[nodiscard]] std::string shell_word(std::string_view text);

/// "a, b, c": the items, or what `text_of` makes of each, with the separator between them.
template <typename Items, typename TextOf = std::identity>
[[nodiscard]] std::string join(const Items& items, std::string_view separator = ", ", const TextOf& text_of = {}) {
  std::string joined;
  for (auto item = std::begin(items); item != std::end(items); ++item) {
    if (item != std::begin(items)) joined += separator;
    fmt::format_to(std::back_inserter(joined), "{}", std::invoke(text_of, *item));
  }
  return joined;
}

}  // namespace kw
