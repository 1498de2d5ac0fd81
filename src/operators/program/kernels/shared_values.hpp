#pragma once
// Which values of stage expressions are worth a name: those that are used more than once.

#include <vector>

#include "program/stages/expression.hpp"

namespace kw {

/// In an order in which each comes behind what it is made of. Only such that may be computed before anything is
/// decided: a value with an element of a tensor in it counts where it is needed whatever conditions hold, since the
/// element may lie outside of the tensor otherwise; without `loads` not at all.
[[nodiscard]] std::vector<StageExpr> values_used_often(const std::vector<StageExpr>& roots, bool loads);

}  // namespace kw
