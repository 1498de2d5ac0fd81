#pragma once
// From the text of a Python file to a tensor program. The file is read, never executed. What it may hold is described
// in docs/programs.md; whatever else it holds is refused with its line and column and with what to write instead.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "program/graph/graph.hpp"
#include "tensor/tensor.hpp"

namespace kw {

struct ProgramOptions {
  std::string class_name = "Model";
  Axes set;  ///< other values for integers that the file assigns at its top level
  ProgramMode mode = ProgramMode::train;
  /// Which of these integers stay names in extents; the others become numbers there. Absent: all.
  std::optional<std::vector<std::string>> axes = std::nullopt;
};

/// `file` is the name that errors carry. Refuses with the codes of program/errors.hpp.
[[nodiscard]] Result<Program> read_program(std::string_view text, const std::string& file,
                                           const ProgramOptions& options = {});

}  // namespace kw
