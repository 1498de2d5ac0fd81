#include "record/named_lines.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>

namespace kw {
namespace {

constexpr int k_last_line = 1 << 20;

/// What stands right before the number.
constexpr auto k_line_marks = std::to_array<std::string_view>({"line ", ".cu:", ".cl:", ".hip:", ".cpp:"});

}  // namespace

std::vector<int> named_lines(std::string_view text) {
  std::vector<int> lines;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::string_view rest = text.substr(at);
    const auto* const mark =
        std::ranges::find_if(k_line_marks, [&](std::string_view one) { return rest.starts_with(one); });
    if (mark == k_line_marks.end()) continue;
    const std::string_view number = rest.substr(mark->size());
    int line = 0;
    const auto read = std::from_chars(number.data(), number.data() + number.size(), line);
    if (read.ec != std::errc() || line < 1 || line > k_last_line) continue;
    if (std::ranges::find(lines, line) == lines.end()) lines.push_back(line);
  }
  return lines;
}

std::string lines_text(std::string_view text) {
  constexpr std::size_t k_sides_of_a_race = 2;
  std::vector<int> lines = named_lines(text);
  if (lines.size() > k_sides_of_a_race) lines.resize(k_sides_of_a_race);
  std::string words;
  for (const int line : lines) words += (words.empty() ? ", line " : " and line ") + std::to_string(line);
  return words;
}

}  // namespace kw
