#pragma once
// Whether the epilogue of a stage never falls as what was reduced rises.

#include "program/stages/expression.hpp"

namespace kw {

/// The largest of such values is that of the largest result, and the least one that of the least: additions, positive
/// factors, bounds and functions such as tanh. No is also what is not known.
[[nodiscard]] bool rises_with_result(const StageExpr& epilogue);

}  // namespace kw
