#include "codegen/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/result.hpp"

namespace kw {
namespace {

const std::string& filling_for(const Fillings& fillings, std::string_view name) {
  const auto found =
      std::find_if(fillings.begin(), fillings.end(), [&](const auto& entry) { return entry.first == name; });
  KW_CHECK(found != fillings.end(), "no filling for ${{{}}}", name);
  return found->second;
}

std::string indented(std::string_view text, std::size_t columns) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    out += text[i];
    const bool blank_line_next = i + 1 < text.size() && text[i + 1] == '\n';
    if (text[i] == '\n' && !blank_line_next) out.append(columns, ' ');
  }
  return out;
}

void fill_line(std::string_view line, const Fillings& fillings, std::string& out) {
  const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
  std::string filled;
  bool had_hole = false;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t hole = line.find("${", at);
    filled += line.substr(at, hole - at);
    if (hole == std::string_view::npos) break;
    const std::size_t close = line.find('}', hole);
    KW_CHECK(close != std::string_view::npos, "unclosed hole in: {}", line);
    filled += indented(filling_for(fillings, line.substr(hole + 2, close - hole - 2)), indent);
    had_hole = true;
    at = close + 1;
  }
  const bool nothing_left = filled.find_first_not_of(' ') == std::string::npos;
  if (had_hole && nothing_left) return;
  out += filled;
  out += '\n';
}

}  // namespace

std::string fill(std::string_view text, const Fillings& fillings) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    fill_line(text.substr(0, end), fillings, out);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return out;
}

std::string fill_lines(std::string_view text, const Fillings& fillings) {
  std::string lines = fill(text, fillings);
  while (!lines.empty() && lines.back() == '\n') lines.pop_back();
  return lines;
}

std::string join_lines(const std::vector<std::string>& lines) {
  return fmt::format("{}", fmt::join(lines, "\n"));
}

std::string parameter_list(const std::string& opening, const std::vector<std::string>& items, std::size_t columns) {
  std::string text;
  std::string line = opening;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string item = items[i] + (i + 1 < items.size() ? "," : ")");
    if (i > 0 && line.size() + 1 + item.size() > columns) {
      text += line + "\n";
      line = std::string(opening.size(), ' ') + item;
    } else {
      line += (i > 0 ? " " : "") + item;
    }
  }
  return text + line;
}

std::string broken_statement(const std::string& statement, std::size_t columns) {
  const std::string_view operators = ",&|+-*/^?:=";
  const bool comment = statement.starts_with("// ");
  const std::string_view next_line = comment ? "\n// " : "\n    ";
  std::string text;
  std::string_view rest = statement;
  if (comment) rest.remove_prefix(3), text = "// ";
  std::size_t room = columns - text.size();
  while (rest.size() > room) {
    std::size_t space = rest.rfind(' ', room);
    while (!comment && space != std::string_view::npos && space > 0 &&
           operators.find(rest[space - 1]) == std::string_view::npos)
      space = rest.rfind(' ', space - 1);
    if (space == std::string_view::npos || space == 0) break;
    text += std::string(rest.substr(0, space)) + std::string(next_line);
    rest.remove_prefix(space + 1);
    room = columns - (next_line.size() - 1);
  }
  return text + std::string(rest);
}

std::string without_parentheses(const std::string& text) {
  if (text.empty() || text.front() != '(') return text;
  int open = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(') ++open;
    if (text[i] == ')' && --open == 0) return i + 1 == text.size() ? text.substr(1, text.size() - 2) : text;
  }
  return text;
}

std::string as_comment(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string line = "// ";
    for (const char c : text.substr(0, end)) line += (c >= 0x20 && c < 0x7f) ? c : ' ';
    line.erase(line.find_last_not_of(' ') + 1);
    // A backslash, or its trigraph, at the end of the line would pull the next line into the comment.
    if (line.ends_with('\\') || line.ends_with("?\?/")) line += " .";
    out += line;
    if (end == std::string_view::npos) break;
    out += '\n';
    text.remove_prefix(end + 1);
  }
  return out;
}

std::string float_literal(double value) {
  if (std::isnan(value)) return "NAN";
  const float rounded = std::abs(value) > static_cast<double>(std::numeric_limits<float>::max())
                            ? std::copysign(std::numeric_limits<float>::infinity(), static_cast<float>(value))
                            : static_cast<float>(value);
  if (std::isinf(rounded)) return rounded > 0 ? "INFINITY" : "(-INFINITY)";
  std::string digits = fmt::format("{}", rounded);
  if (digits.find_first_of(".e") == std::string::npos) digits += ".0";
  return std::signbit(rounded) ? "(" + digits + "f)" : digits + "f";
}

std::string int_literal(long long value) {
  const auto wrapped = static_cast<std::int32_t>(static_cast<std::uint64_t>(value));
  if (wrapped == std::numeric_limits<std::int32_t>::min()) return "(-2147483647 - 1)";
  return wrapped < 0 ? fmt::format("({})", wrapped) : fmt::format("{}", wrapped);
}

}  // namespace kw
