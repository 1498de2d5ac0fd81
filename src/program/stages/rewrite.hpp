#pragma once
// Stage expressions made from others: axes replaced, elements of tensors replaced, equal parts made one.

#include <functional>
#include <map>
#include <set>
#include <string>

#include "program/stages/stage.hpp"

namespace kw {

/// What takes the place of a node; absent: the node stays. Operands of `node` are rewritten already.
using RewriteRule = std::function<StageExpr(const StageExpr& node)>;
/// Bottom-up; what occurs twice is rewritten once, and integer arithmetic is simplified. An absent expression stays.
[[nodiscard]] StageExpr rewritten(const StageExpr& expression, const RewriteRule& rule);

/// Applies `rule` to every expression of the stage.
void rewrite_stage(Stage& stage, const RewriteRule& rule);

using AxisValues = std::map<std::string, StageExpr>;
/// Axes that have no value stay.
[[nodiscard]] StageExpr with_axes(const StageExpr& expression, const AxisValues& values);

[[nodiscard]] bool same_expression(const StageExpr& a, const StageExpr& b);
/// Equal parts of the stage's expressions become one node, which printers then name.
void share_equal_parts(Stage& stage);

/// Calls `visit` for every load of the expression, once per node.
void for_each_load(const StageExpr& expression, const std::function<void(const StageNode& load)>& visit);
/// Of everything that the stage reads.
void for_each_load(const Stage& stage, const std::function<void(const StageNode& load)>& visit);
/// Buffers that the stage reads.
[[nodiscard]] std::set<std::size_t> buffers_read(const Stage& stage);

[[nodiscard]] Shape extents_of(const StageAxes& axes);

/// Indices of a dense tensor of shape `from` as indices of the same elements in shape `to`. Axes that agree stay as
/// they are; others go through the place in the smallest block that both have.
[[nodiscard]] StageIndices reshaped_indices(const StageIndices& indices, const Shape& from, const Shape& to);

}  // namespace kw
