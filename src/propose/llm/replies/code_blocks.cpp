#include "propose/llm/replies/code_blocks.hpp"

#include <algorithm>
#include <cctype>
#include <optional>

#include "base/byte_text.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"

namespace kw {
namespace {

/// A line that may open or close a block.
struct Fence {
  char mark = '`';
  std::size_t length = 0;
  std::size_t indent = 0;
  std::string_view info;  ///< what follows, without blanks around it
};

std::string_view without_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::optional<Fence> fence_of(std::string_view line) {
  Fence fence;
  fence.indent = std::min(line.find_first_not_of(" \t"), line.size());
  line.remove_prefix(fence.indent);
  if (line.empty() || (line[0] != '`' && line[0] != '~')) return std::nullopt;
  fence.mark = line[0];
  fence.length = std::min(line.find_first_not_of(fence.mark), line.size());
  if (fence.length < 3) return std::nullopt;
  fence.info = without_blanks(line.substr(fence.length));
  // "```code```" on one line is inline code, not a fence.
  if (fence.mark == '`' && fence.info.find('`') != std::string_view::npos) return std::nullopt;
  return fence;
}

std::string first_word(std::string_view info) {
  std::string word;
  for (const char c : info.substr(0, 32)) {
    if (std::isspace(static_cast<unsigned char>(c)) != 0 || c == '{' || c == ',') break;
    word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return word;
}

std::string_view unindented(std::string_view line, std::size_t indent) {
  std::size_t blanks = 0;
  while (blanks < indent && blanks < line.size() && (line[blanks] == ' ' || line[blanks] == '\t')) ++blanks;
  return line.substr(blanks);
}

}  // namespace

std::vector<CodeBlock> code_blocks(std::string_view markdown) {
  std::vector<CodeBlock> blocks;
  std::optional<Fence> open;
  for (std::size_t start = 0; start < markdown.size();) {
    const std::size_t end = std::min(markdown.find('\n', start), markdown.size() - 1) + 1;
    const std::string_view line = markdown.substr(start, end - start);
    start = end;
    const auto fence = fence_of(line.substr(0, line.find('\n')));
    if (!open && fence) {
      open = fence;
      blocks.push_back({first_word(fence->info), "", false});
    } else if (open && fence && fence->mark == open->mark && fence->length >= open->length && fence->info.empty()) {
      blocks.back().closed = true;
      open.reset();
    } else if (open) {
      blocks.back().text += unindented(line, open->indent);
    }
  }
  return blocks;
}

std::string one_line(std::string_view text, std::size_t most) {
  const bool cut = text.size() > most;
  text = text.substr(0, most);
  // Not inside a character.
  while (cut && !text.empty() && (static_cast<unsigned char>(text.back()) & 0x80U) != 0) text.remove_suffix(1);
  std::string line = on_one_line(to_displayable_text(text));
  std::replace(line.begin(), line.end(), '`', '\'');
  return cut ? line + "..." : line;
}

}  // namespace kw
