#include "program/stages/access.hpp"

#include <algorithm>

namespace kw {
namespace {

/// axis, or a sum of it and what does not depend on it.
bool advances_by_one(const StageExpr& index, const std::string& axis) {
  if (index->op == StageOp::axis) return index->axis == axis;
  if (index->op == StageOp::subtract) {
    return advances_by_one(index->operands[0], axis) && !depends_on(index->operands[1], axis);
  }
  if (index->op != StageOp::add) return false;
  const auto& a = index->operands[0];
  const auto& b = index->operands[1];
  return (advances_by_one(a, axis) && !depends_on(b, axis)) || (advances_by_one(b, axis) && !depends_on(a, axis));
}

bool any_of(const StageAxes& axes, const std::set<std::string>& used) {
  return std::any_of(axes.begin(), axes.end(), [&](const StageAxis& axis) { return used.count(axis.name) > 0; });
}

void add_certain_loads(const StageExpr& node, std::set<const StageNode*>& seen, std::vector<const StageNode*>& loads) {
  if (!node || !seen.insert(node.get()).second) return;
  if (node->op == StageOp::load) loads.push_back(node.get());
  const bool decides = node->op == StageOp::select || node->op == StageOp::both || node->op == StageOp::either;
  for (const auto& operand : node->operands) {
    add_certain_loads(operand, seen, loads);
    if (decides) break;
  }
}

}  // namespace

std::vector<const StageNode*> certain_loads(const StageExpr& expression) {
  std::set<const StageNode*> seen;
  std::vector<const StageNode*> loads;
  add_certain_loads(expression, seen, loads);
  return loads;
}

std::set<std::string> axes_used(const StageExpr& expression) {
  std::set<std::string> axes;
  (void)rewritten(expression, [&](const StageExpr& node) {
    if (node->op == StageOp::axis) axes.insert(node->axis);
    return StageExpr();
  });
  return axes;
}

bool depends_on(const StageExpr& expression, const std::string& axis) {
  return axes_used(expression).count(axis) > 0;
}

bool is_contiguous(const StageNode& load, const std::string& axis) {
  if (load.operands.empty() || !advances_by_one(load.operands.back(), axis)) return false;
  return std::none_of(load.operands.begin(), load.operands.end() - 1,
                      [&](const StageExpr& index) { return depends_on(index, axis); });
}

bool slides(const Stage& stage) {
  // An axis that was cut into parts, as part * length + place, has every element once.
  const auto is_cut = [&](const StageExpr& whole) {
    const bool divided = whole->op == StageOp::floor_divide || whole->op == StageOp::floor_modulo;
    const auto& index = divided ? whole->operands[0] : whole;
    if (index->op != StageOp::add || index->operands[0]->op != StageOp::multiply) return false;
    const auto& length = index->operands[0]->operands[1];
    return length->op == StageOp::integer && index->operands[1]->op == StageOp::axis &&
           std::any_of(stage.inner.begin(), stage.inner.end(), [&](const StageAxis& axis) {
             return axis.name == index->operands[1]->axis && axis.extent.text() == length->integer.text();
           });
  };
  bool found = false;
  for_each_load(stage, [&](const StageNode& load) {
    for (const auto& index : load.operands) {
      if (is_cut(index)) continue;
      const auto used = axes_used(index);
      found = found || (any_of(stage.axes, used) && any_of(stage.inner, used));
    }
  });
  return found;
}

bool goes_along_columns(const StageNode& load, const StageAxes& rows, const StageAxes& columns) {
  if (columns.empty() || !is_contiguous(load, columns.back().name)) return false;
  return rows.empty() || std::ranges::any_of(load.operands, [&](const StageExpr& index) {
           return depends_on(index, rows.back().name);
         });
}

bool has_contiguous_rows(const Stage& stage) {
  bool along_rows = false;
  bool along_columns = false;
  for_each_load(stage, [&](const StageNode& load) {
    along_rows = along_rows || (!stage.axes.empty() && is_contiguous(load, stage.axes.back().name));
    along_columns = along_columns || goes_along_columns(load, stage.axes, stage.inner);
  });
  return along_rows && !along_columns;
}

}  // namespace kw
