#pragma once
// Cuts a whole Python file, or the body of a function or class, into its statements without understanding them, so that
// only those a mod needs are ever parsed. Whatever Python has may stand in the file. Statements under "if", "try" and
// "with" are cut as well, and remember under which conditions they are executed.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace kw {

/// What decides whether the statements of a block are executed.
struct PyCondition {
  std::string_view word;   ///< "if", "try", "with", ...
  std::string_view text;   ///< the condition of an "if"; empty where nothing in the file decides
  SourcePlace where;       ///< of `text`, or of the word when that is empty
  std::size_t before = 0;  ///< the number of items above it
};
struct PyGuard {
  std::size_t condition = 0;  ///< in PyModule::conditions
  bool holds = true;
};

enum class PyItemKind : std::uint8_t {
  statement,
  function,  ///< def
  type,      ///< a class: it has a name, but is never parsed
  unread,    ///< binds its names in a way that is not read: PyModuleItem::unread says which
};

struct PyModuleItem {
  PyItemKind kind = PyItemKind::statement;
  bool definition = false;         ///< def, class or import
  std::vector<std::string> names;  ///< that it may bind; "*" for all of `star`
  std::string star;                ///< of "from star import *"
  std::string_view unread;         ///< "a 'while'", "'del'"
  std::string_view text;           ///< in the file's text; decorators and the first line's indentation included
  SourcePlace where;               ///< of the first character of `text`
  int last_line = 1;
  std::vector<PyGuard> guards;  ///< it is executed when all of them hold
  std::size_t exits = 0;        ///< ... and when none of the first so many of PyModule::exits is taken
};

struct PyModule {
  std::vector<PyModuleItem> items;          ///< that bind names, in the order of the file
  std::vector<std::vector<PyGuard>> exits;  ///< every "return" of a function's body: taken when all of its guards hold
  std::vector<PyCondition> conditions;
};

/// Never fails: what cannot be cut is left out, and what cannot be read binds the names that seem to be assigned there.
/// `file` is that of all places.
[[nodiscard]] PyModule index_python_module(std::string_view text, const std::string& file = {});
/// The statements inside of a def or a class, whose text this is.
[[nodiscard]] PyModule index_python_body(std::string_view text, const SourcePlace& where);

}  // namespace kw
