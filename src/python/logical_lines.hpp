#pragma once
// Cuts Python text into logical lines without understanding them: newlines inside of brackets, strings and after a
// backslash do not end one.

#include <string_view>
#include <vector>

namespace kw {

struct PyLogicalLine {
  std::string_view text;  ///< in the text that was cut, with its indentation and its newline
  int line = 1;           ///< of its first character
  int indent = 0;         ///< columns before the first character that is no blank; a tab reaches the next multiple of 8

  /// The text behind the indentation.
  [[nodiscard]] std::string_view code() const;
};

/// Lines that hold code; blank ones and those of a comment alone are left out. `first_line` is the number of the first.
[[nodiscard]] std::vector<PyLogicalLine> logical_lines(std::string_view text, int first_line = 1);

/// The first word of `code`: letters, digits and underscores; empty when it starts with anything else.
[[nodiscard]] std::string_view first_word(std::string_view code);

}  // namespace kw
