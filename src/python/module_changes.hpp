#pragma once
// Finds where a Python file may change a value by other means than the statements that bind its name: "global" in a
// function, exec(), methods of a list, patched libraries. Works on tokens, and rather finds too much than too little.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "python/bound_names.hpp"

namespace kw {

/// Lines of a file, both included.
struct PyLines {
  int first = 1;
  int last = 1;
};

struct PyChange {
  SourcePlace where;
  std::string what;  ///< "'global W'", "'exec'"
};

class PyModuleChanges {
 public:
  /// `file` is that of all places.
  explicit PyModuleChanges(std::string_view text, const std::string& file = {});

  /// Where a name that a statement in the line `bound` binds may get another value.
  [[nodiscard]] std::optional<PyChange> rebinds(std::string_view name, int bound) const;
  /// Where the list of that name, with lists nested `levels` deep (1: holds none), may change or get another name.
  /// Statements in the lines `executed` are known. With `attribute`, that of the list "name.attribute".
  [[nodiscard]] std::optional<PyChange> alters(std::string_view name, int levels, std::span<const PyLines> executed,
                                               std::string_view attribute = {}) const;
  /// Attributes of `name` that are assigned to, as "nn.functional.relu"; "" for setattr() with any.
  struct Patch {
    std::string attribute;
    SourcePlace where;
  };
  [[nodiscard]] std::vector<Patch> patches(std::string_view name) const;

 private:
  struct Line {
    std::vector<PyToken> tokens;
    int indent = 0;
  };
  /// `first` and `last` are the tokens of the list's name.
  [[nodiscard]] bool alters(const Line& line, std::size_t first, std::size_t last, int levels) const;

  std::vector<Line> lines_;
};

}  // namespace kw
