#include "operators/program/kernels/computed_factors.hpp"

#include <algorithm>

#include "program/stages/access.hpp"
#include "program/stages/rewrite.hpp"
#include "program/stages/work.hpp"

namespace kw {
namespace {

/// Fewer columns are not worth a pass through memory.
constexpr double k_least_columns = 256;
/// Elements of a buffer.
constexpr double k_most_elements = 1 << 30;

bool is_computed(const StageExpr& factor) {
  bool functions = false;
  (void)rewritten(factor, [&](const StageExpr& node) {
    functions = functions || node->op == StageOp::exp || node->op == StageOp::exp2 || node->op == StageOp::tanh ||
                node->op == StageOp::erf || node->op == StageOp::divide;
    return StageExpr();
  });
  return functions;
}

StageAxes axes_of(const Stage& stage, const StageExpr& factor) {
  StageAxes axes;
  for (const auto* list : {&stage.axes, &stage.inner}) {
    for (const auto& axis : *list) {
      if (depends_on(factor, axis.name)) axes.push_back(axis);
    }
  }
  return axes;
}

/// Which operand of the stage's products is to be stored; absent: none.
std::optional<std::size_t> factor_to_store(const Stage& stage) {
  const bool sums = stage.kind == StageKind::reduce && stage.op == ReduceOp::sum && stage.guards.empty() &&
                    stage.body->type == StageType::real && stage.body->op == StageOp::multiply;
  if (!sums) return std::nullopt;
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    const auto& factor = stage.body->operands[i];
    const auto axes = axes_of(stage, factor);
    const bool all_steps = std::all_of(stage.inner.begin(), stage.inner.end(),
                                       [&](const StageAxis& axis) { return depends_on(factor, axis.name); });
    const double columns = count_of(stage.axes) * count_of(stage.inner) / std::max(count_of(axes), 1.0);
    if (is_computed(factor) && all_steps && columns >= k_least_columns && count_of(axes) <= k_most_elements) return i;
  }
  return std::nullopt;
}

StageExpr stored_factor(StageProgram& program, std::size_t products, const StageExpr& factor) {
  Stage map;
  map.node = program.stages[products].node;
  map.axes = axes_of(program.stages[products], factor);
  map.body = factor;
  map.buffer = program.buffers.size();
  StageBuffer buffer;
  buffer.name = program.buffers[program.stages[products].buffer].name + "_factor";
  buffer.type = {ElementType::float32, extents_of(map.axes)};
  StageIndices indices;
  for (const auto& axis : map.axes) indices.push_back(axis_index(axis.name));
  auto element = load({map.buffer, buffer.type}, std::move(indices));
  program.buffers.push_back(std::move(buffer));
  program.stages.insert(program.stages.begin() + static_cast<std::ptrdiff_t>(products), std::move(map));
  return element;
}

}  // namespace

void store_computed_factors(StageProgram& program, Dialect dialect) {
  if (dialect->warp.empty()) return;
  for (std::size_t i = 0; i < program.stages.size(); ++i) {
    const auto which = factor_to_store(program.stages[i]);
    if (!which) continue;
    StageNode products = *program.stages[i].body;
    products.operands[*which] = stored_factor(program, i, products.operands[*which]);
    program.stages[++i].body = StageExpr(std::move(products));
  }
}

}  // namespace kw
