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

}  // namespace kw
