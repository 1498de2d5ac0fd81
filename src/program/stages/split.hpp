#pragma once
// A long reduction of few results in two stages: parts that can be gathered at the same time, and what follows from
// them. The order of the sum is fixed, so that two runs agree to the bit.

#include "program/stages/stage.hpp"

namespace kw {

/// Whether parts of the reduction are of the kind that the whole is: not for the place of an extremum.
[[nodiscard]] bool can_split(const Stage& stage);

/// Puts a stage before stages[index] that reduces over about 1 / `parts` of the outermost inner axes each, `parts`
/// >= 2. The number of parts is a constant of the program. Returns how many there came to be, for the extents as they
/// were read; 1 where the axes are too short and nothing changed.
std::int64_t split_reduction(StageProgram& program, std::size_t index, std::int64_t parts);

/// Whether stages[second] sums (e - r) * (e - r) where stages[first] sums e, over the same elements, and r is what
/// follows from the first sum at the same place: as mean and variance are.
[[nodiscard]] bool are_moments(const Stage& first, const Stage& second);

/// Splits both sums of are_moments(): parts have a mean of their own and the squares of the differences from it, so
/// that one reading of the elements does for both. What was stages[first] and stages[second] then joins the parts: the
/// sum of all is that of the parts', and to the squares of each part come those of its mean's difference from r.
/// Returns as split_reduction().
std::int64_t split_moments(StageProgram& program, std::size_t first, std::size_t second, std::int64_t parts);

}  // namespace kw
