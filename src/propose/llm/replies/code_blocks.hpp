#pragma once
// Fenced code blocks of a Markdown answer, read as models write them: ``` and ~~~, indented in lists, never closed.
// Purely textual; says nothing about what is inside.

#include <string>
#include <string_view>
#include <vector>

namespace kw {

struct CodeBlock {
  std::string language;  ///< first word after the opening fence, in small letters; often empty, often wrong
  std::string text;      ///< with its line ends; what the fence was indented by is taken off every line
  bool closed = true;    ///< false: the answer ended inside it
};

/// In order. A closing fence is of the same character and at least as long as the opening one, as in CommonMark.
[[nodiscard]] std::vector<CodeBlock> code_blocks(std::string_view markdown);

/// On one line and within `most` bytes, for sentences: control characters and line ends become blanks, backticks
/// apostrophes, bytes that are no text U+FFFD; "..." says that something was cut off.
[[nodiscard]] std::string one_line(std::string_view text, std::size_t most);

}  // namespace kw
