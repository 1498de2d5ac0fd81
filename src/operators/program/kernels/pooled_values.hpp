#pragma once
// Pooling of what follows from a tensor's elements by a function that is monotone within a window, such as a norm with
// tanh behind it: it follows from the largest and the least elements of the windows. What reads these reads less.

#include <optional>
#include <vector>

#include "program/stages/stage.hpp"

namespace kw {

struct PooledValues {
  std::vector<StageBuffer> buffers;  ///< of the extremes, or of sums; the program has none of them so far
  std::vector<Stage> windows;        ///< that write them: reductions of the elements alone
  Stage rest;                        ///< what the reduction then is: a map
};

/// Of a stage that reduces what `values` computes, as dense as its axes, to the largest or the least numbers or to sums
/// of windows; the first buffer gets the number `first_buffer`. Absent where it is no such reduction.
[[nodiscard]] std::optional<PooledValues> pooled_values_of(const StageProgram& program, const Stage& values,
                                                           const Stage& reduction, std::size_t first_buffer);

}  // namespace kw
