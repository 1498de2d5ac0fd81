#include "operators/program/kernels/recurrence_shape.hpp"

#include <algorithm>

#include "program/stages/rewrite.hpp"

namespace kw {
namespace {

/// Accumulators of a work-item; more would be spilled.
constexpr std::size_t k_most_gates = 8;

}  // namespace

bool is_index_along(const StageExpr& index, const StageAxis& axis) {
  if (axis.extent.text() == "1") return index->op == StageOp::integer && index->integer.text() == "0";
  return index->op == StageOp::axis && index->axis == axis.name;
}

Stage stage_at_step(const Stage& stage, bool first) {
  Stage part = stage;
  const auto asks_step = [&](const StageExpr& condition) {
    return condition->op == StageOp::equal && is_index_along(condition->operands[0], stage.axes[1]);
  };
  rewrite_stage(part, [&](const StageExpr& node) {
    const bool chooses = node->op == StageOp::select && asks_step(node->operands[0]);
    return chooses ? node->operands[first ? 1 : 2] : StageExpr();
  });
  return part;
}

std::optional<StepShape> StepShape::of(const StageProgram& program, const std::vector<std::size_t>& stages) {
  StepShape shape;
  for (const auto index : stages) {
    shape.stages_.push_back(&program.stages[index]);
    shape.written_.insert(program.stages[index].buffer);
  }
  return shape.find(program) ? std::optional(std::move(shape)) : std::nullopt;
}

StageExpr StepShape::of_gate(const StageExpr& expression, std::size_t gate) const {
  return with_axes(expression, {{product().axes[2].name, gates_[gate]}});
}

StageExpr StepShape::after_sum(std::size_t gate) const {
  return product().epilogue ? of_gate(product().epilogue, gate) : reduction_result(StageType::real);
}

std::optional<std::size_t> StepShape::gate_of(const StageNode& load) const {
  if (maps().empty() || load.tensor.buffer != product().buffer) return std::nullopt;
  const auto found =
      std::ranges::find_if(gates_, [&](const StageExpr& gate) { return same_expression(gate, load.operands[2]); });
  return static_cast<std::size_t>(found - gates_.begin());
}

bool StepShape::waits(const StageNode& load) const {
  return written_.contains(load.tensor.buffer) && is_index_along(load.operands[1], axes()[1]);
}

std::set<std::size_t> StepShape::stored() const {
  auto buffers = written_;
  if (!maps().empty()) buffers.erase(product().buffer);
  return buffers;
}

bool StepShape::find(const StageProgram& program) {
  const auto& sum = product();
  const bool adds = reduces(sum) && sum.op == ReduceOp::sum && !sum.position && sum.inner.size() == 1 &&
                    sum.guards.empty() && sum.body->type == StageType::real && reads_before(sum);
  if (!adds || std::ranges::any_of(maps(), [](const Stage* one) { return reduces(*one); })) return false;
  if (maps().empty()) {
    gates_.push_back(axis_index(sum.axes[2].name));
    return true;
  }
  bool fits = program.buffers[sum.buffer].use == BufferUse::scratch && !is_read_elsewhere(program, sum.buffer);
  for (const auto* map : maps()) fits = fits && takes(*map);
  return fits && !gates_.empty() && gates_.size() <= k_most_gates;
}

/// Whether what it reads of the recurrence is of the step before.
bool StepShape::reads_before(const Stage& stage) const {
  bool before = true;
  for_each_load(stage, [&](const StageNode& load) {
    before = before && (!written_.contains(load.tensor.buffer) || !is_index_along(load.operands[1], stage.axes[1]));
  });
  return before;
}

/// Products of its own gates, its own feature of what came before in this step, and anything of the step before.
bool StepShape::takes(const Stage& map) {
  bool fits = map.axes[2].name == axes()[2].name && map.axes[2].extent.text() == axes()[2].extent.text();
  for_each_load(map, [&](const StageNode& load) {
    if (!written_.contains(load.tensor.buffer) || !is_index_along(load.operands[1], map.axes[1])) return;
    fits = fits && is_index_along(load.operands[0], map.axes[0]);
    const auto& feature = load.operands[2];
    if (load.tensor.buffer != product().buffer) {
      fits = fits && is_index_along(feature, map.axes[2]);
    } else if (std::ranges::none_of(gates_, [&](const StageExpr& one) { return same_expression(one, feature); })) {
      gates_.push_back(feature);
    }
  });
  return fits;
}

bool StepShape::is_read_elsewhere(const StageProgram& program, std::size_t buffer) const {
  return std::ranges::any_of(program.stages, [&](const Stage& stage) {
    const bool own = std::ranges::find(stages_, &stage) != stages_.end();
    return !own && buffers_read(stage).contains(buffer);
  });
}

}  // namespace kw
