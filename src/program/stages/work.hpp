#pragma once
// How much there is to do in stages, for decisions between ways to do it. Counts are for the extents that the module
// was read with.

#include "program/stages/stage.hpp"

namespace kw {

/// The product of the extents.
[[nodiscard]] double count_of(const StageAxes& axes);
/// How often the stage's body is evaluated.
[[nodiscard]] double evaluations(const Stage& stage);
/// Of one evaluation, in additions: 1 for arithmetic on reals, 8 for a function such as exp; what occurs twice counts
/// once. Indices and elements count nothing.
[[nodiscard]] double arithmetic_of(const StageExpr& expression);
/// How many nodes there are.
[[nodiscard]] std::size_t size_of(const StageExpr& expression);

}  // namespace kw
