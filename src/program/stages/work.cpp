#include "program/stages/work.hpp"

#include <set>

namespace kw {
namespace {

void visit(const StageExpr& node, std::set<const StageNode*>& seen) {
  if (!node || !seen.insert(node.get()).second) return;
  for (const auto& operand : node->operands) visit(operand, seen);
}

double cost_of(const StageNode& node) {
  constexpr double k_function = 8.0;
  if (node.operands.empty() || node.op == StageOp::load || node.op == StageOp::to_real) return 0.0;
  const bool real = node.type == StageType::real || node.operands[0]->type == StageType::real;
  if (!real) return 0.0;
  return node.op >= StageOp::power && node.op <= StageOp::lgamma && node.op != StageOp::fmax && node.op != StageOp::fmin
             ? k_function
             : 1.0;
}

}  // namespace

double count_of(const StageAxes& axes) {
  double count = 1.0;
  for (const auto& axis : axes) count *= static_cast<double>(axis.extent.value());
  return count;
}

double evaluations(const Stage& stage) {
  return count_of(stage.axes) * (stage.kind == StageKind::scan ? 1.0 : count_of(stage.inner));
}

double arithmetic_of(const StageExpr& expression) {
  std::set<const StageNode*> nodes;
  visit(expression, nodes);
  double work = 0.0;
  for (const auto* node : nodes) work += cost_of(*node);
  return work;
}

std::size_t size_of(const StageExpr& expression) {
  std::set<const StageNode*> nodes;
  visit(expression, nodes);
  return nodes.size();
}

}  // namespace kw
