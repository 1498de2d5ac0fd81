#pragma once
// Products whose factors a problem allows to be rounded to tf32 (program/graph/precision.hpp).

#include "program/graph/precision.hpp"
#include "program/stages/stage.hpp"

namespace kw {

/// Sets Stage::rounds_factors of sums of products that calls of the graph are made of, where `precision` allows it
/// or all numbers are of 16 bits, which are tf32 numbers. For stages as they come from lower(): fusing them keeps the
/// mark.
void mark_rounded(StageProgram& program, const Graph& graph, Precision precision);

/// Gives each tensor of f32 that a marked stage multiplies a copy of rounded numbers, made by a stage before the first
/// one that reads it: what an honest kernel of that precision multiplies, at the speed of an exact one. The marks go.
void round_factors(StageProgram& program);

}  // namespace kw
