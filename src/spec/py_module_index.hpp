#pragma once
// Cuts a whole Python file into its top-level statements without understanding them, so that only those a mod needs are
// ever parsed. Whatever Python has may stand in the file.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace kw {

enum class PyModuleItemKind : std::uint8_t {
  definition,  ///< def or import
  assignment,
  unread,  ///< a class or an async def: it has a name, but is never parsed
};

struct PyModuleItem {
  PyModuleItemKind kind = PyModuleItemKind::assignment;
  std::vector<std::string> names;  ///< what it binds
  std::string_view text;           ///< in the file's text; decorators included
  int line = 1;
};

/// Statements that bind names, in the order of the file; others are left out. Never fails: what cannot be cut is left
/// out as well.
[[nodiscard]] std::vector<PyModuleItem> index_python_module(std::string_view text);

}  // namespace kw
