#pragma once
// How loads move through memory as an axis advances.

#include <string>
#include <vector>

#include "program/stages/rewrite.hpp"

namespace kw {

/// Whether the load's place advances by one element with `axis`, and by that alone.
[[nodiscard]] bool is_contiguous(const StageNode& load, const std::string& axis);
/// Whether neighbours of a row are neighbours in memory, in a tensor that neighbouring rows have elements of their own
/// in: a row of weights, which all of them read, says nothing.
[[nodiscard]] bool goes_along_columns(const StageNode& load, const StageAxes& rows, const StageAxes& columns);
/// Of a reduction: whether neighbouring rows have elements that are contiguous, rather than neighbours of a row.
[[nodiscard]] bool has_contiguous_rows(const Stage& stage);

/// Loads that are needed whatever conditions hold: others may lie outside of their tensors. Each node once.
[[nodiscard]] std::vector<const StageNode*> certain_loads(const StageExpr& expression);

/// Names of the stage's axes that occur.
[[nodiscard]] std::set<std::string> axes_used(const StageExpr& expression);
/// Whether the value depends on the axis.
[[nodiscard]] bool depends_on(const StageExpr& expression, const std::string& axis);

/// Whether an index of a load depends on an axis of the output and on one that is reduced: elements of one output are
/// elements of others too.
[[nodiscard]] bool slides(const Stage& stage);

}  // namespace kw
