#pragma once
// Sums of what follows from a tensor's elements by a factor and a term that are the same for all of them, such as the
// mean over an image behind a norm: they follow from the mean of the elements. What reads that reads less.

#include <cstddef>
#include <optional>

#include "program/stages/stage.hpp"

namespace kw {

struct AffineSum {
  StageBuffer buffer;  ///< of the means; the program has none so far
  Stage means;         ///< of the elements, over those axes that the factor and the term do not depend on
  Stage rest;          ///< what the sum then is: a map, or a sum over the axes that are left
};

/// Of a stage that sums over elements of what `values` computes, as dense as its axes; the means get the number
/// `buffer`. Absent where it is no such sum, or is that of the elements themselves.
[[nodiscard]] std::optional<AffineSum> affine_sum_of(const StageProgram& program, const Stage& values, const Stage& sum,
                                                     std::size_t buffer);

}  // namespace kw
