#include "operators/program/kernels/recurrence_states.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "codegen/text.hpp"
#include "program/stages/rewrite.hpp"

namespace kw {
namespace {

bool has_loads(const StageExpr& node) {
  return node->op == StageOp::load || std::ranges::any_of(node->operands, has_loads);
}

}  // namespace

StateTexts::StateTexts(const GroupContext& context, const StepShape& shape, KernelScope& scope,
                       const std::string& parts)
    : context_(context), shape_(shape), scope_(scope), parts_(parts) {
  for (std::size_t gate = 0; gate < shape.gates().size(); ++gate) sums_.push_back(shape.after_sum(gate));
  for (const auto& sum : sums_) name_known(sum);
  for (const auto* map : shape.maps()) name_known(map->body);
}

bool StateTexts::waits(const StageExpr& node) const {
  return node->op == StageOp::result || (node->op == StageOp::load && shape_.waits(*node)) ||
         std::ranges::any_of(node->operands, [this](const StageExpr& operand) { return waits(operand); });
}

/// The largest parts that wait for nothing, outside of conditions: what those exclude may have no place to read from.
void StateTexts::name_known(const StageExpr& node) {
  if (!has_loads(node)) return;
  if (!waits(node)) {
    const auto variable = scope_.new_name(fmt::format("known_{}", known_.size()));
    declared_.push_back(fmt::format("{} {}[{}];", kernel_type(node->type), variable, parts_));
    known_.push_back(broken_statement(fmt::format("{}[part] = {};", variable, without_parentheses(scope_.text(node)))));
    scope_.call_value(node.get(), variable + "[part]");
    return;
  }
  if (node->op == StageOp::load) return;
  const bool decides = node->op == StageOp::select || node->op == StageOp::both || node->op == StageOp::either;
  for (const auto& operand : node->operands) {
    name_known(operand);
    if (decides) break;
  }
}

std::vector<std::string> StateTexts::states(const std::function<std::string(std::size_t gate)>& sum,
                                            std::size_t kept_buffer, const std::string& kept) {
  std::vector<std::string> lines;
  const auto append = [&](const Stage& stage, const StageExpr& value) {
    for (auto& line : stored(stage, value, stage.buffer == kept_buffer ? kept : "")) lines.push_back(std::move(line));
  };
  if (shape_.maps().empty()) {
    scope_.call_result(sum(0));
    append(shape_.product(), sums_[0]);
    return lines;
  }
  for (std::size_t gate = 0; gate < sums_.size(); ++gate) {
    scope_.call_result(sum(gate));
    lines.push_back(broken_statement(
        fmt::format("const float gate_{} = {};", gate, without_parentheses(scope_.text(sums_[gate])))));
  }
  for (const auto* map : shape_.maps()) {
    for_each_load(map->body, [&](const StageNode& load) {
      if (const auto gate = shape_.gate_of(load)) scope_.call_value(&load, fmt::format("gate_{}", *gate));
    });
    append(*map, map->body);
  }
  return lines;
}

std::vector<std::string> StateTexts::stored(const Stage& stage, const StageExpr& value, const std::string& kept) {
  const auto& buffer = context_.buffers[stage.buffer];
  std::vector<std::string> indices;
  for (const auto& axis : stage.axes) indices.push_back(scope_.axis(axis.name));
  auto text = without_parentheses(scope_.text(value));
  std::vector<std::string> lines;
  if (!kept.empty()) {
    lines.push_back(broken_statement(fmt::format("const float {} = {};", kept, text)));
    text = kept;
  }
  lines.push_back(broken_statement(
      store_text(buffer.dtype, buffer.name, scope_.offset(indices, extents_of(stage.axes)), text, scope_.dialect())));
  return lines;
}

}  // namespace kw
