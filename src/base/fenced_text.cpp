#include "base/fenced_text.hpp"

#include <algorithm>

#include "base/byte_text.hpp"

namespace kw {

std::string fenced(std::string_view language, std::string_view text) {
  const std::string shown = to_displayable_text(text);
  std::size_t longest = 2;
  for (std::size_t at = 0; (at = shown.find('`', at)) != std::string::npos;) {
    const std::size_t end = std::min(shown.find_first_not_of('`', at), shown.size());
    longest = std::max(longest, end - at);
    at = end;
  }
  const std::string fence(longest + 1, '`');
  const bool ends_line = !shown.empty() && shown.back() == '\n';
  return fence + std::string(language) + "\n" + shown + (ends_line ? "" : "\n") + fence + "\n";
}

}  // namespace kw
