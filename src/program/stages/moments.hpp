#pragma once
// Mean and variance over axes of a tensor, and sums of what follows from its elements: what normalisations and
// reductions share. The variance takes two passes, because the difference of two large sums would lose it.

#include <vector>

#include "program/stages/decomposition.hpp"

namespace kw {

/// Both with axes of 1 in the place of those that were reduced.
struct Moments {
  TensorView mean;
  TensorView variance;
};

/// sum(body) over the reduced axes of `frame`, then `epilogue` of reduction_result(); axes of 1 in their place.
[[nodiscard]] TensorView sum_over(Decomposition& d, const StageTarget& target, const StageAxes& frame,
                                  const std::vector<std::size_t>& reduced, StageExpr body, StageExpr epilogue = {});
[[nodiscard]] TensorView mean_over(Decomposition& d, const StageTarget& target, const TensorView& x,
                                   const std::vector<std::size_t>& reduced);
/// The sum of squared differences is divided by the number of elements less `correction`.
[[nodiscard]] TensorView variance_over(Decomposition& d, const StageTarget& target, const TensorView& x,
                                       const TensorView& mean, const std::vector<std::size_t>& reduced,
                                       double correction, bool root = false);
[[nodiscard]] Moments moments_over(Decomposition& d, const TensorView& x, const std::vector<std::size_t>& reduced);

}  // namespace kw
