#include "propose/llm/replies/answer_section.hpp"

#include <algorithm>
#include <cctype>

#include "base/text.hpp"
#include "propose/llm/replies/code_blocks.hpp"

namespace kw {
namespace {

constexpr std::size_t k_max_line_bytes = 400;
constexpr std::size_t k_max_section_bytes = 4000;

bool is_digit(char letter) {
  return std::isdigit(static_cast<unsigned char>(letter)) != 0;
}

/// A line without the number of its place in a list: "2. **Design**" is "**Design**".
std::string_view without_number(std::string_view line) {
  line = trimmed(line);
  std::size_t digits = 0;
  while (digits < line.size() && is_digit(line[digits])) ++digits;
  const bool numbered = digits > 0 && digits < line.size() && (line[digits] == '.' || line[digits] == ')');
  return numbered ? trimmed(line.substr(digits + 1)) : line;
}

void drop_front(std::string_view& line, const char* letters) {
  line.remove_prefix(std::min(line.find_first_not_of(letters), line.size()));
}

/// What follows the title in a line that begins with it; a null view for any other line.
std::string_view behind_title(std::string_view line, std::string_view title) {
  line = without_number(line);
  drop_front(line, "#*- \t");
  if (lower_case(line.substr(0, title.size())) != lower_case(title)) return {};
  line.remove_prefix(title.size());
  // What closes the title, and no mark of what is set in bold behind it. "Plan the tiles" is a sentence.
  const bool bold = line.starts_with('*');
  drop_front(line, "*");
  drop_front(line, " \t\r");
  const bool colon = line.starts_with(':');
  if (colon) {
    line.remove_prefix(1);
    drop_front(line, "*");
    drop_front(line, " \t\r");
  }
  return bold || colon || line.empty() ? line : std::string_view();
}

bool ends_section(std::string_view line) {
  const std::string_view rest = without_number(line);
  const bool heading = rest.starts_with('#') || rest.starts_with("**");
  return heading || rest.starts_with("```") || rest.starts_with("~~~") || rest.starts_with("/*");
}

}  // namespace

std::string answer_section(std::string_view text, std::string_view title) {
  std::string section;
  bool inside = false;
  for (std::size_t start = 0; start < text.size() && section.size() < k_max_section_bytes;) {
    const std::size_t stop = std::min(text.find('\n', start), text.size());
    const std::string_view line = text.substr(start, stop - start);
    start = stop + 1;
    const std::string_view behind = behind_title(line, title);
    if (!inside && behind.data() != nullptr) {
      inside = true;
      section = one_line(behind, k_max_line_bytes);
    } else if (inside) {
      if (ends_section(line)) break;
      section += "\n" + one_line(line, k_max_line_bytes);
    }
  }
  return std::string(trimmed(section));
}

}  // namespace kw
