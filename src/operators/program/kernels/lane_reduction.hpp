#pragma once
// How sixteen lanes gather a reduction: for the reductions that lanes can do on their own.

#include <optional>
#include <string>

#include "program/stages/stage.hpp"

namespace kw {

struct LaneReduction {
  const char* start;   ///< of every lane
  const char* step;    ///< with holes for the variable and the element: "{0} += {1};"
  const char* gather;  ///< the function that makes one of sixteen
  const char* merge;   ///< of the one {0} into the scalar accumulator, whose name begins with {1}
  const char* helper;  ///< that `step` calls; null where it calls none
};

/// Null for reductions of integers and truths, for places of extrema and log_sum_exp.
[[nodiscard]] const LaneReduction* lane_reduction(const Stage& stage);
/// A maximum of what is no NaN, at least -FLT_MAX, which can be subtracted from -infinity.
[[nodiscard]] const LaneReduction& lane_maximum_of_numbers();

}  // namespace kw
