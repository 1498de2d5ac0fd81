#include "python/logical_lines.hpp"

#include <algorithm>
#include <cstddef>

namespace kw {
namespace {

bool is_identifier_part(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}
bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\f';
}

class Scanner {
 public:
  Scanner(std::string_view text, int first_line) : text_(text), line_(first_line) {}

  std::vector<PyLogicalLine> run() {
    std::vector<PyLogicalLine> lines;
    while (at_ < text_.size()) {
      const std::size_t begin = at_;
      const int line = line_;
      logical_line();
      PyLogicalLine found{text_.substr(begin, at_ - begin), line, 0};
      const auto code = found.code();
      if (code.empty() || code.front() == '\n' || code.front() == '\r' || code.front() == '#') continue;
      for (const char c : found.text.substr(0, found.text.size() - code.size())) {
        found.indent = c == '\t' ? (found.indent / 8 + 1) * 8 : found.indent + (c == ' ' ? 1 : 0);
      }
      lines.push_back(found);
    }
    return lines;
  }

 private:
  void step() {
    if (text_[at_++] == '\n') ++line_;
  }
  void logical_line() {
    int depth = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#') {
        while (at_ < text_.size() && text_[at_] != '\n') step();
      } else if (c == '"' || c == '\'') {
        string(c);
      } else if (c == '\\' && at_ + 1 < text_.size()) {
        step();
        step();
      } else {
        if (c == '(' || c == '[' || c == '{') ++depth;
        if (c == ')' || c == ']' || c == '}') depth = std::max(0, depth - 1);
        step();
        if (c == '\n' && depth == 0) return;
      }
    }
  }
  void string(char quote) {
    const auto opening = text_.substr(at_, 3);
    const bool triple = opening.size() == 3 && opening[1] == quote && opening[2] == quote;
    const int width = triple ? 3 : 1;
    for (int i = 0; i < width; ++i) step();
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n' && !triple) return;
      if (c == quote && (!triple || text_.substr(at_, 3) == opening)) {
        for (int i = 0; i < width; ++i) step();
        return;
      }
      step();
      if (c == '\\' && at_ < text_.size()) step();
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_;
};

}  // namespace

std::string_view PyLogicalLine::code() const {
  auto rest = text;
  while (!rest.empty() && is_blank(rest.front())) rest.remove_prefix(1);
  return rest;
}

std::vector<PyLogicalLine> logical_lines(std::string_view text, int first_line) {
  return Scanner(text, first_line).run();
}

std::string_view first_word(std::string_view code) {
  const auto* const end = std::find_if_not(code.begin(), code.end(), is_identifier_part);
  return code.substr(0, static_cast<std::size_t>(end - code.begin()));
}

}  // namespace kw
