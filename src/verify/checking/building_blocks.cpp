#include "verify/checking/building_blocks.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/text.hpp"
#include "language/kernel_texts.hpp"
#include "verify/checking/source_lines.hpp"

namespace kw {
namespace {

using Lines = std::vector<std::string>;

bool asks_for_simulator(const Directive& directive) {
  return directive.word.starts_with("if") && std::ranges::count(identifiers_in(directive.rest), "KW_SIM") > 0;
}

/// Behind the #endif of the group that begins with line `begin`; nothing without one.
std::optional<std::size_t> end_of_group(const Lines& lines, std::size_t begin) {
  int depth = 0;
  for (std::size_t i = begin; i < lines.size(); ++i) {
    const auto directive = directive_of(lines[i]);
    if (!directive) continue;
    if (directive->word.starts_with("if")) ++depth;
    if (directive->word == "endif" && --depth == 0) return i + 1;
  }
  return std::nullopt;
}

/// One space between words, and directives on lines of their own.
std::string normalised(const Lines& lines, std::size_t begin, std::size_t end) {
  std::string text;
  for (std::size_t i = begin; i < end; ++i) {
    const bool directive = directive_of(lines[i]).has_value();
    text += directive ? '\n' : ' ';
    for (const char c : lines[i]) {
      if (c != ' ' || (text.back() != ' ' && text.back() != '\n')) text += c;
    }
    while (text.back() == ' ') text.pop_back();
    if (directive) text += '\n';
  }
  return text;
}

const std::vector<std::string>& shipped_blocks() {
  static const std::vector<std::string> blocks = [] {
    std::vector<std::string> found;
    for (const KernelSection& section : kernel_sections()) {
      const Lines lines = source_lines(section.text).lines;
      for (std::size_t i = 0; i < lines.size(); ++i) {
        const auto directive = directive_of(lines[i]);
        if (!directive || !asks_for_simulator(*directive)) continue;
        if (const auto end = end_of_group(lines, i)) found.push_back(normalised(lines, i, *end));
      }
    }
    return found;
  }();
  return blocks;
}

/// What a generator writes into a hole: names, numbers, operands. Neither a statement nor a directive.
bool may_fill(std::string_view text) {
  return text.find_first_of(";#{}\\\n") == std::string_view::npos;
}

/// Whether `text` is `block` with its holes, "${name}", filled.
bool is_filled(std::string_view text, std::string_view block) {
  const std::size_t hole = block.find("${");
  if (hole == std::string_view::npos) return text == block;
  if (!text.starts_with(block.substr(0, hole))) return false;
  text.remove_prefix(hole);
  const std::string_view rest = block.substr(block.find('}', hole) + 1);
  const std::string_view next = rest.substr(0, rest.find("${"));
  for (std::size_t at = text.find(next); at != std::string_view::npos; at = text.find(next, at + 1)) {
    if (!may_fill(text.substr(0, at))) return false;
    if (is_filled(text.substr(at), rest)) return true;
    if (next.empty()) return false;  // two holes side by side would fit anything
  }
  return false;
}

bool is_shipped(const std::string& group) {
  return std::ranges::any_of(shipped_blocks(), [&](const std::string& block) { return is_filled(group, block); });
}

}  // namespace

Lines without_building_blocks(const Lines& lines) {
  Lines rest;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto directive = directive_of(lines[i]);
    const auto end = directive && asks_for_simulator(*directive) ? end_of_group(lines, i) : std::nullopt;
    if (end && is_shipped(normalised(lines, i, *end))) {
      i = *end - 1;
    } else {
      rest.push_back(lines[i]);
    }
  }
  return rest;
}

}  // namespace kw
