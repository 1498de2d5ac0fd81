#pragma once
// The lines of a function's body, indented by the blocks that are open.

#include <algorithm>
#include <string>
#include <vector>

#include "codegen/text.hpp"

namespace kw {

/// Collects the lines of a function's body.
class BodyWriter {
 public:
  void line(const std::string& text) {
    // Deep blocks leave less room in a line.
    constexpr std::size_t k_columns = 108;
    constexpr std::size_t k_page = 116;
    const auto margin = static_cast<std::size_t>(depth_) * 2;
    text_ += indented(broken_statement(text, std::min(k_columns, k_page - margin))) + "\n";
  }
  void lines(const std::vector<std::string>& statements) {
    for (const auto& one : statements) line(one);
  }
  void open(const std::string& text) {
    line(text.empty() ? "{" : text + " {");
    ++depth_;
  }
  void close() {
    --depth_;
    line("}");
  }
  /// Lines that were written for this depth already.
  void raw(const std::string& lines) { text_ += lines; }
  /// For lines that are to stand so many blocks further in.
  [[nodiscard]] BodyWriter nested(int blocks) const {
    BodyWriter inner;
    inner.depth_ = depth_ + blocks;
    return inner;
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  [[nodiscard]] std::string indented(const std::string& lines) const {
    const std::string margin(static_cast<std::size_t>(depth_) * 2, ' ');
    std::string result = margin;
    for (const char c : lines) {
      result += c;
      if (c == '\n') result += margin;
    }
    return result;
  }

  std::string text_;
  int depth_ = 1;
};

}  // namespace kw
