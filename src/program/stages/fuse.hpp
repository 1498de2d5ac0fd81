#pragma once
// Fusion of stages: a map is computed where it is read, or at the end of the reduction that it reads, and its buffer
// goes. Nothing is computed in another way than before.

#include <string>
#include <vector>

#include "program/stages/stage.hpp"

namespace kw {

struct FusedProgram {
  StageProgram program;  ///< buffers keep their numbers; those of removed stages are read and written by none
  /// A line per stage that went: "relu_1 into conv_1".
  std::vector<std::string> fusions;
};

/// Decided for the extents as the module was read with, right for all.
[[nodiscard]] FusedProgram fused(StageProgram program);

}  // namespace kw
