#include "program/stages/collapse.hpp"

#include <algorithm>
#include <limits>

#include "program/stages/exact_extent.hpp"
#include "program/stages/rewrite.hpp"

namespace kw {
namespace {

bool is_unit(const Extent& extent) {
  return extent.text() == "1";
}

bool is_axis(const StageExpr& index, const std::string& name) {
  return index->op == StageOp::axis && index->axis == name;
}

bool has_product(const Extent& a, const Extent& b);

/// e / n and e % n, where n is the extent of the second index's axis.
bool splits_place(const StageNode& load, std::size_t i) {
  const auto& high = load.operands[i];
  const auto& low = load.operands[i + 1];
  if (high->op != StageOp::floor_divide || low->op != StageOp::floor_modulo) return false;
  const auto& n = low->operands[1];
  return has_product(load.tensor.type.shape[i], load.tensor.type.shape[i + 1]) && n->op == StageOp::integer &&
         n->integer.text() == load.tensor.type.shape[i + 1].text() && same_expression(high->operands[1], n) &&
         same_expression(high->operands[0], low->operands[0]);
}

/// The load with axis i + 1 of its tensor merged into axis i.
StageExpr merged_load(StageNode load, std::size_t i, StageExpr index) {
  auto& shape = load.tensor.type.shape;
  const auto at = static_cast<std::ptrdiff_t>(i);
  shape[i] = Extent::product(shape[i], shape[i + 1]).value();
  shape.erase(shape.begin() + at + 1);
  load.operands[i] = std::move(index);
  load.operands.erase(load.operands.begin() + at + 1);
  return StageExpr(std::move(load));
}

/// Without axes of one element and without places that are split where the tensor is dense.
StageExpr simpler_load(const StageExpr& node) {
  StageExpr load = node;
  for (std::size_t i = load->operands.size(); i-- > 0;) {
    if (load->operands.size() < 2 || !is_unit(load->tensor.type.shape[i])) continue;
    StageNode changed = *load;
    const auto at = static_cast<std::ptrdiff_t>(i);
    changed.operands.erase(changed.operands.begin() + at);
    changed.tensor.type.shape.erase(changed.tensor.type.shape.begin() + at);
    load = StageExpr(std::move(changed));
  }
  for (std::size_t i = 0; i + 1 < load->operands.size();) {
    if (!splits_place(*load, i)) {
      ++i;
      continue;
    }
    load = merged_load(*load, i, load->operands[i]->operands[0]);
    i = 0;
  }
  return load.get() == node.get() ? StageExpr() : load;
}

void simplify_loads(Stage& stage) {
  rewrite_stage(stage,
                [](const StageExpr& node) { return node->op == StageOp::load ? simpler_load(node) : StageExpr(); });
}

constexpr std::size_t k_nowhere = std::numeric_limits<std::size_t>::max();

/// Where a load has `a` and `b` as neighbouring indices, `b` over a whole axis of the tensor.
std::size_t neighbours(const StageNode& load, const std::string& a, const StageAxis& b) {
  for (std::size_t i = 0; i + 1 < load.operands.size(); ++i) {
    if (is_axis(load.operands[i], a) && is_axis(load.operands[i + 1], b.name) &&
        load.tensor.type.shape[i + 1].text() == b.extent.text()) {
      return i;
    }
  }
  return k_nowhere;
}

/// Whether the axes occur in `node` as neighbours alone.
bool only_as_neighbours(const StageExpr& node, const std::string& a, const StageAxis& b,
                        std::set<const StageNode*>& seen) {
  if (!node || !seen.insert(node.get()).second) return true;
  if (is_axis(node, a) || is_axis(node, b.name)) return false;
  const auto at = node->op == StageOp::load ? neighbours(*node, a, b) : k_nowhere;
  for (std::size_t i = 0; i < node->operands.size(); ++i) {
    if (at != k_nowhere && (i == at || i == at + 1)) continue;
    if (!only_as_neighbours(node->operands[i], a, b, seen)) return false;
  }
  return true;
}

/// Whether the product can be written for every binding of the axes, in few enough words, and is an int that may grow.
bool has_product(const Extent& a, const Extent& b) {
  constexpr std::size_t k_longest = 160;
  constexpr std::int64_t k_largest = 1 << 30;
  const auto product = exact_product(a, b);
  return product && product->text().size() <= k_longest && product->value() <= k_largest;
}

/// Whether every load that has the axes as neighbours can have them as one.
bool loads_merge(const Stage& stage, const StageAxis& a, const StageAxis& b) {
  bool all = true;
  const auto look = [&](const StageNode& load) {
    const auto at = neighbours(load, a.name, b);
    all = all && (at == k_nowhere || has_product(load.tensor.type.shape[at], load.tensor.type.shape[at + 1]));
  };
  for_each_load(stage, look);
  if (stage.place) look(*stage.place);
  return all;
}

bool can_merge(const Stage& stage, const StageAxis& a, const StageAxis& b) {
  if (!has_product(a.extent, b.extent) || !loads_merge(stage, a, b)) return false;
  std::set<const StageNode*> seen;
  const auto fits = [&](const StageExpr& expression) { return only_as_neighbours(expression, a.name, b, seen); };
  const bool scanned =
      stage.kind == StageKind::scan && (stage.inner[0].name == a.name || stage.inner[0].name == b.name);
  return !scanned && std::all_of(stage.guards.begin(), stage.guards.end(), fits) && fits(stage.body) &&
         fits(stage.position) && fits(stage.epilogue) && fits(stage.place);
}

/// Axis i + 1 becomes part of axis i, which keeps its name.
void merge(Stage& stage, StageAxes& axes, std::size_t i) {
  const auto a = axes[i];
  const auto b = axes[i + 1];
  axes[i].extent = Extent::product(a.extent, b.extent).value();
  axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(i) + 1);
  rewrite_stage(stage, [&](const StageExpr& node) {
    const auto at = node->op == StageOp::load ? neighbours(*node, a.name, b) : k_nowhere;
    return at != k_nowhere ? merged_load(*node, at, axis_index(a.name)) : StageExpr();
  });
}

/// Their indices are 0 and may stand as such in the text.
void drop_units(Stage& stage, StageAxes& axes, std::size_t first, std::size_t least) {
  for (std::size_t i = axes.size(); i-- > first && axes.size() > least;) {
    const bool scanned = stage.kind == StageKind::scan && stage.inner[0].name == axes[i].name;
    if (!is_unit(axes[i].extent) || scanned) continue;
    const auto name = axes[i].name;
    rewrite_stage(stage, [&](const StageExpr& node) { return is_axis(node, name) ? StageExpr(0) : StageExpr(); });
    axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

void merge_all(Stage& stage, StageAxes& axes, std::size_t first) {
  for (std::size_t i = first; i + 1 < axes.size();) {
    if (can_merge(stage, axes[i], axes[i + 1])) {
      merge(stage, axes, i);
    } else {
      ++i;
    }
  }
}

}  // namespace

std::size_t collapse_axes(std::span<Stage* const> stages, std::size_t common) {
  for (auto* stage : stages) {
    drop_units(*stage, stage->axes, common, 0);
    if (stage->kind == StageKind::reduce) drop_units(*stage, stage->inner, 0, 1);
    simplify_loads(*stage);
    merge_all(*stage, stage->axes, common);
    if (stage->kind == StageKind::reduce) merge_all(*stage, stage->inner, 0);
  }
  for (std::size_t i = 0; i + 1 < common;) {
    const auto fits = [&](const Stage* stage) { return can_merge(*stage, stage->axes[i], stage->axes[i + 1]); };
    if (!std::all_of(stages.begin(), stages.end(), fits)) {
      ++i;
      continue;
    }
    for (auto* stage : stages) merge(*stage, stage->axes, i);
    --common;
  }
  return common;
}

void collapse_axes(Stage& stage) {
  Stage* const one = &stage;
  collapse_axes(std::span<Stage* const>(&one, 1), 0);
}

void collapse_inner_axes(Stage& reduction) {
  drop_units(reduction, reduction.inner, 0, 1);
  simplify_loads(reduction);
  merge_all(reduction, reduction.inner, 0);
}

}  // namespace kw
