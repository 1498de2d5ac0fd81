#pragma once
// Splits the Python text of a mod into tokens, with INDENT and DEDENT as Python's own tokenizer makes them. Text whose
// first line is indented (pasted from inside a function) is taken as if it were not.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace kw {

enum class PyTokenKind : std::uint8_t { name, integer, real, text, symbol, newline, indent, dedent, end };

struct PyToken {
  PyTokenKind kind = PyTokenKind::end;
  std::string text;        ///< a name or keyword, a symbol, or the contents of a string
  bool formatted = false;  ///< an f-string
  std::int64_t integer = 0;
  double real = 0.0;
  SourcePlace where;
};

/// The last token is `end`. Refuses with errc::mod_syntax or mod_limit. `start` is the place of the first character.
[[nodiscard]] Result<std::vector<PyToken>> tokenize_python(std::string_view text,
                                                           const SourcePlace& start = {"", 1, 1});

}  // namespace kw
