#pragma once
// A stage with other axes, so that places in tensors become sums of axes: an axis that is divided (a filter's group)
// becomes two, and one that a stride divides (transposed convolution) becomes a phase and a step, so that only the
// taps of the phase are visited.

#include <set>
#include <string>

#include "program/stages/stage.hpp"

namespace kw {

struct SplitStage {
  Stage stage;                   ///< its axes are new ones; their order is that of the output's
  StageAxes output;              ///< axes of the output buffer, as they were
  StageIndices place;            ///< of an element in the output, by the new axes
  StageExpr stored;              ///< of the new axes: whether there is such an element; absent: always
  std::set<std::string> phases;  ///< new axes that say what is left of a division by a stride
};

[[nodiscard]] SplitStage split_stage(Stage stage);

}  // namespace kw
