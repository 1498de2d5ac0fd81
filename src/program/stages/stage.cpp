#include "program/stages/stage.hpp"

#include "base/text.hpp"
#include "program/operators/schema.hpp"
#include "program/stages/expression_text.hpp"

namespace kw {
namespace {

std::string axes_text(const StageAxes& axes) {
  return join(axes, ", ", [](const StageAxis& axis) { return axis.name; });
}

std::string notation_leaf(const StageProgram& program, const StageExpr& leaf, const ExpressionSpelling& spelling) {
  switch (leaf->op) {
    case StageOp::integer:
      if (leaf->type == StageType::truth) return leaf->integer.value() != 0 ? "true" : "false";
      if (leaf->integer.is_constant() && leaf->integer.value() >= 0) return leaf->integer.text();
      return leaf->integer.text().find(' ') == std::string::npos ? leaf->integer.text()
                                                                 : "(" + leaf->integer.text() + ")";
    case StageOp::real:
      return argument_text(leaf->real);
    case StageOp::axis:
      return leaf->axis;
    case StageOp::result:
      return "result";
    case StageOp::load:
      return program.buffers[leaf->tensor.buffer].name + "[" +
             join(leaf->operands, ", ", [&](const StageExpr& index) { return expression_text(index, spelling); }) + "]";
    default:
      return "";
  }
}

ExpressionSpelling index_notation(const StageProgram& program) {
  ExpressionSpelling spelling;
  spelling.node = [&program](const StageExpr& node) { return notation_leaf(program, node, index_notation(program)); };
  spelling.function = [](const StageNode& node, const std::vector<std::string>& operands) {
    return fmt::format("{}({})", function_name(node.op), fmt::join(operands, ", "));
  };
  return spelling;
}

}  // namespace

std::string_view to_string(ReduceOp op) {
  switch (op) {
    case ReduceOp::sum:
      return "sum";
    case ReduceOp::product:
      return "product";
    case ReduceOp::maximum:
      return "max";
    case ReduceOp::minimum:
      return "min";
    case ReduceOp::argmax:
      return "argmax";
    case ReduceOp::argmin:
      return "argmin";
    case ReduceOp::any:
      return "any";
    case ReduceOp::all:
      return "all";
    case ReduceOp::log_sum_exp:
      return "log_sum_exp";
  }
  return "";
}

bool reduces(const Stage& stage) {
  return stage.kind == StageKind::step ? !stage.inner.empty() : stage.kind != StageKind::map;
}

StageType result_type_of(const Stage& stage) {
  if (!reduces(stage)) return stage.body->type;
  if (stage.epilogue) return stage.epilogue->type;
  if (stage.position) return StageType::integer;
  return stage.op == ReduceOp::any || stage.op == ReduceOp::all ? StageType::truth : stage.body->type;
}

std::string stage_text(const StageProgram& program, const Stage& stage) {
  const auto spelling = index_notation(program);
  std::string text = stage.place ? expression_text(stage.place, spelling) + " = "
                                 : fmt::format("{}[{}] = ", program.buffers[stage.buffer].name, axes_text(stage.axes));
  if (stage.kind == StageKind::step)
    text = (stage.backwards ? "step by step from the last: " : "step by step: ") + text;
  if (!reduces(stage)) return text + expression_text(stage.body, spelling);
  if (stage.epilogue) text += expression_text(stage.epilogue, spelling) + " of ";
  text += fmt::format("{}{} {} {}", stage.kind == StageKind::scan ? "running " : "", to_string(stage.op),
                      stage.kind == StageKind::scan ? "along" : "over", axes_text(stage.inner));
  if (!stage.guards.empty()) {
    text += " where " + join(stage.guards, " and ",
                             [&](const StageExpr& guard) { return expression_text(guard, spelling, Binding::both); });
  }
  return text + " of " + expression_text(stage.body, spelling);
}

std::vector<std::vector<std::size_t>> recurrences_of(const StageProgram& program) {
  std::vector<std::vector<std::size_t>> recurrences;
  std::optional<std::size_t> node;
  for (std::size_t i = 0; i < program.stages.size(); ++i) {
    const auto& stage = program.stages[i];
    if (stage.kind != StageKind::step) continue;
    if (recurrences.empty() || stage.node != node) recurrences.emplace_back();
    recurrences.back().push_back(i);
    node = stage.node;
  }
  return recurrences;
}

std::string stages_text(const StageProgram& program, const Graph& graph) {
  std::string text;
  const Node* shown = nullptr;
  for (const auto& stage : program.stages) {
    const auto* node = stage.node ? &graph.nodes[*stage.node] : nullptr;
    if (node != nullptr && node != shown) {
      text += fmt::format("{}{}, line {}\n", node->op, node->module.empty() ? "" : " (" + node->module + ")",
                          node->where.line);
    }
    shown = node;
    text += "  " + stage_text(program, stage) + "\n";
    const auto with_extents = [](const StageAxis& axis) { return axis.name + " < " + axis.extent.text(); };
    std::string extents = join(stage.axes, ", ", with_extents);
    if (stage.kind != StageKind::scan && reduces(stage))
      extents += (extents.empty() ? "" : ", ") + join(stage.inner, ", ", with_extents);
    if (!extents.empty()) text += "    " + extents + "\n";
  }
  return text;
}

}  // namespace kw
