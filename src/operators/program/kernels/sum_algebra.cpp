#include "operators/program/kernels/sum_algebra.hpp"

#include <algorithm>

#include "program/stages/buffer_readers.hpp"

namespace kw {
bool has_result(const StageExpr& node) {
  if (node->op == StageOp::result) return true;
  return std::any_of(node->operands.begin(), node->operands.end(), has_result);
}

std::optional<StageExpr> sum_of_linear_in_result(const StageExpr& node, const StageExpr& count) {
  if (!has_result(node)) return node * count;
  if (node->op == StageOp::result) return node;
  std::vector<StageExpr> sums;
  const auto& operands = node->operands;
  if (node->op == StageOp::add || node->op == StageOp::subtract) {
    for (const auto& operand : operands) {
      const auto sum = sum_of_linear_in_result(operand, count);
      if (!sum) return std::nullopt;
      sums.push_back(*sum);
    }
    return node->op == StageOp::add ? sums[0] + sums[1] : sums[0] - sums[1];
  }
  const bool scaled = node->op == StageOp::multiply || node->op == StageOp::divide;
  if (!scaled || has_result(operands[1]) == has_result(operands[0])) return std::nullopt;
  const bool second = has_result(operands[1]);
  if (second && node->op == StageOp::divide) return std::nullopt;
  const auto sum = sum_of_linear_in_result(operands[second ? 1 : 0], count);
  if (!sum) return std::nullopt;
  const auto& factor = operands[second ? 0 : 1];
  return node->op == StageOp::multiply ? *sum * factor : *sum / factor;
}

StageExpr with_result(const StageExpr& outer, const StageExpr& inner) {
  if (!outer) return inner;
  return rewritten(outer, [&](const StageExpr& node) { return node->op == StageOp::result ? inner : StageExpr(); });
}

bool is_real_sum(const Stage& stage) {
  return stage.kind == StageKind::reduce && stage.op == ReduceOp::sum && !stage.position &&
         stage.body->type == StageType::real;
}

std::optional<TwoFactors> two_factors(const Stage& stage) {
  const auto& body = *stage.body;
  if (body.op != StageOp::multiply) return std::nullopt;
  const bool loads = body.operands[0]->op == StageOp::load && body.operands[1]->op == StageOp::load;
  return loads ? std::optional(TwoFactors{body.operands[0], body.operands[1]}) : std::nullopt;
}

StageExpr only_element(const StageExpr& expression, std::size_t buffer) {
  StageExpr element;
  bool one = true;
  const auto visit = [&](const StageExpr& node, const auto& again) -> void {
    if (node->op == StageOp::load && node->tensor.buffer == buffer) {
      one = one && (!element || same_expression(element, node));
      element = node;
    }
    for (const auto& operand : node->operands) again(operand, again);
  };
  visit(expression, visit);
  return one ? element : StageExpr();
}

bool epilogue_reads(const Stage& stage, std::size_t buffer) {
  bool reads = false;
  if (!stage.epilogue) return reads;
  for_each_load(stage.epilogue, [&](const StageNode& load) { reads = reads || load.tensor.buffer == buffer; });
  return reads;
}

StageExpr with_elements(const StageExpr& expression, std::size_t buffer, const StageExpr& by) {
  return rewritten(expression, [&](const StageExpr& node) {
    return node->op == StageOp::load && node->tensor.buffer == buffer ? by : StageExpr();
  });
}

const StageAxis* axis_named(const StageAxes& axes, const std::string& name) {
  const auto found = std::find_if(axes.begin(), axes.end(), [&](const StageAxis& one) { return one.name == name; });
  return found == axes.end() ? nullptr : &*found;
}

bool have_common(const std::set<std::string>& a, const std::set<std::string>& b) {
  return std::any_of(a.begin(), a.end(), [&](const std::string& one) { return b.count(one) > 0; });
}

AxisValues with_free_names(StageAxes& inner, const StageAxes& axes) {
  AxisValues names;
  for (auto& axis : inner) {
    const auto old = axis.name;
    while (axis_named(axes, axis.name) != nullptr) axis.name += "_";
    names[old] = axis_index(axis.name);
  }
  return names;
}

std::optional<std::size_t> only_reader(const StageProgram& program, std::size_t buffer) {
  return BufferReaders(program).only(buffer);
}

std::vector<RewrittenPair> rewrite_pairs(StageProgram& program,
                                         bool (*rule)(StageProgram& program, std::size_t first, std::size_t second)) {
  std::vector<RewrittenPair> pairs;
  BufferReaders readers(program);
  for (std::size_t i = 0; i < program.stages.size(); ++i) {
    const auto buffer = program.stages[i].buffer;
    if (program.buffers[buffer].use != BufferUse::scratch) continue;
    const auto reader = readers.only(buffer);
    if (!reader || !rule(program, i, *reader)) continue;
    pairs.push_back({program.buffers[buffer].name, program.buffers[program.stages[*reader].buffer].name});
    readers = BufferReaders(program);
  }
  return pairs;
}

}  // namespace kw
