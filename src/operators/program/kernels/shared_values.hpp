#pragma once
// Which values of stage expressions are worth a name: those that are used more than once.

#include <set>
#include <string>
#include <vector>

#include "program/stages/expression.hpp"

namespace kw {

/// In an order in which each comes behind what it is made of. Only such that may be computed before anything is
/// decided: a value with an element of a tensor in it counts where it is needed whatever conditions hold, since the
/// element may lie outside of the tensor otherwise; without `loads` not at all.
[[nodiscard]] std::vector<StageExpr> values_used_often(const std::vector<StageExpr>& roots, bool loads);

/// The largest real values in `root`, the outermost first, that have an element of a tensor in them, no index but those
/// of `axes` and not the result of a reduction, and that are needed whatever conditions hold.
[[nodiscard]] std::vector<StageExpr> values_over(const StageExpr& root, const std::set<std::string>& axes);

}  // namespace kw
