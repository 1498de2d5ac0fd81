#include "propose/llm/prompts/compiler_errors.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "propose/llm/replies/code_blocks.hpp"

namespace kw {
namespace {

constexpr std::size_t k_max_compiler_message_bytes = 300;
constexpr std::size_t k_max_code_line_bytes = 200;
constexpr int k_max_line = 1 << 20;

/// The number that ends just before `end`; nothing when there is none. Moves `end` to its first digit.
std::optional<int> number_before(std::string_view text, std::size_t& end) {
  std::size_t begin = end;
  while (begin > 0 && text[begin - 1] >= '0' && text[begin - 1] <= '9') --begin;
  int value = 0;
  const auto read = std::from_chars(text.data() + begin, text.data() + end, value);
  if (begin == end || read.ec != std::errc() || value > k_max_line) return std::nullopt;
  end = begin;
  return value;
}

/// What stands before "error:": "kernel.cl:3:5: " or "kernel.cl:3: " or "kernel.cu(3): ".
std::optional<std::pair<int, int>> place_before(std::string_view text) {
  std::size_t end = text.find_last_not_of(' ');
  if (end == std::string_view::npos || text[end] != ':') return std::nullopt;
  if (end > 0 && text[end - 1] == ')') {
    end -= 1;
    const auto line = number_before(text, end);
    if (!line || end == 0 || text[end - 1] != '(') return std::nullopt;
    return std::pair(*line, 0);
  }
  const auto last = number_before(text, end);
  if (!last || end == 0 || text[end - 1] != ':') return std::nullopt;
  end -= 1;
  const auto first = number_before(text, end);
  if (first && end > 0 && text[end - 1] == ':') return std::pair(*first, *last);
  return std::pair(*last, 0);
}

std::string_view without_leading_blanks(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return text;
}

/// PoCL puts the place behind the word: "kernel.cl:3:5: no such function", or, within a macro, "kernel.cl:3:5
/// <Spelling=...>: no such function". Leaves what is said in `text`.
std::optional<std::pair<int, int>> take_place(std::string_view& text) {
  const std::string_view first = text.substr(0, text.find(' '));
  if (first.empty()) return std::nullopt;
  const bool ends = first.back() == ':';
  const auto place = place_before(ends ? std::string(first) : std::string(first) + ":");
  if (!place) return std::nullopt;
  std::string_view rest = without_leading_blanks(text.substr(first.size()));
  if (!ends && rest.substr(0, 1) == "<") {
    const std::size_t close = rest.find(">:");
    rest = without_leading_blanks(rest.substr(close == std::string_view::npos ? 0 : close + 2));
  }
  text = rest;
  return place;
}

std::optional<CompilerError> error_in(std::string_view line) {
  constexpr std::string_view k_word = "error:";
  const std::size_t at = line.find(k_word);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view before = line.substr(0, at);
  constexpr std::string_view k_fatal = "fatal ";
  if (before.size() >= k_fatal.size() && before.substr(before.size() - k_fatal.size()) == k_fatal) {
    before.remove_suffix(k_fatal.size());
  }
  std::string_view text = without_leading_blanks(line.substr(at + k_word.size()));
  auto place = place_before(before);
  if (!place) place = take_place(text);
  if (!place || place->first <= 0) return std::nullopt;
  return CompilerError{place->first, place->second, one_line(text, k_max_compiler_message_bytes)};
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    lines.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return lines;
}

}  // namespace

std::vector<CompilerError> first_compiler_errors(std::string_view log, std::size_t most) {
  std::vector<CompilerError> errors;
  for (const std::string_view line : lines_of(log)) {
    if (errors.size() == most) break;
    auto error = error_in(line);
    const auto same_line = [&](const CompilerError& other) { return other.line == error->line; };
    if (error && std::none_of(errors.begin(), errors.end(), same_line)) errors.push_back(*std::move(error));
  }
  return errors;
}

int header_lines(const Bundle& bundle) {
  const std::string text = bundle.to_text();
  return static_cast<int>(
      std::count(text.begin(), text.end() - static_cast<std::ptrdiff_t>(bundle.source.size()), '\n'));
}

std::string quote_errors(const Bundle& bundle, const std::vector<CompilerError>& errors) {
  const auto lines = lines_of(bundle.source);
  const int offset = header_lines(bundle);
  std::string out;
  for (const auto& error : errors) {
    out += fmt::format("{}line {} [{}]{}: {}\n", out.empty() ? "" : "\n", error.line, error.line + offset,
                       error.column > 0 ? fmt::format(", column {}", error.column) : "", error.text);
    const int last = std::min(error.line + 1, static_cast<int>(lines.size()));
    if (error.line > static_cast<int>(lines.size())) out += "  (past the end of the source: a brace is not closed?)\n";
    for (int n = std::max(1, error.line - 1); n <= last; ++n) {
      const std::string_view code = lines[static_cast<std::size_t>(n - 1)].substr(0, k_max_code_line_bytes);
      out += fmt::format("{} {:>4} [{:>4}] | {}\n", n == error.line ? '>' : ' ', n, n + offset, code);
    }
  }
  return out;
}

}  // namespace kw
