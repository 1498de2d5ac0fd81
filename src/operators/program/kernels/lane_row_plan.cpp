#include "operators/program/kernels/lane_row_plan.hpp"

#include <algorithm>

#include "operators/program/kernels/lane_reduction.hpp"
#include "program/stages/rewrite.hpp"
#include "program/stages/work.hpp"

namespace kw {
namespace {

/// Additions from which on a value is not computed twice: a function such as exp.
constexpr double k_costly = 8.0;
/// Work-items that each processor is to have, so that all of them end at about the same time.
constexpr double k_items_per_unit = 4;

bool contains(const std::vector<std::size_t>& buffers, std::size_t buffer) {
  return std::find(buffers.begin(), buffers.end(), buffer) != buffers.end();
}

/// At every size of the module, which is why texts are compared.
bool same_columns(const StageAxes& a, const StageAxes& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const StageAxis& x, const StageAxis& y) {
    return x.name == y.name && x.extent.text() == y.extent.text();
  });
}

/// The stage with every equal of `part` replaced.
Stage with_part(const Stage& stage, const StageExpr& part, const StageExpr& by) {
  Stage changed = stage;
  changed.body =
      rewritten(stage.body, [&](const StageExpr& node) { return same_expression(node, part) ? by : StageExpr(); });
  return changed;
}

/// The element of the buffer, an array of a row's columns.
StageExpr element_of_row(std::size_t buffer, const StageAxes& columns) {
  TensorView view;
  view.buffer = buffer;
  view.type.dtype = ElementType::float32;
  std::vector<StageExpr> indices;
  for (const auto& axis : columns) {
    view.type.shape.push_back(axis.extent);
    indices.push_back(axis_index(axis.name));
  }
  return load(view, indices);
}

class Planner {
 public:
  Planner(const GroupContext& context, std::size_t row_count, const std::vector<std::size_t>& local)
      : context_(context), row_count_(row_count), local_(local) {}

  LaneRowPlan plan(const std::vector<const Stage*>& stages) {
    LaneRowPlan plan;
    for (const auto* stage : stages) plan.stages.push_back({*stage, std::nullopt});
    if (stages.size() < 2 || !ends_with_map(plan)) return plan;
    if (count_of(columns(plan.stages.back().stage)) > static_cast<double>(k_near_columns)) return plan;
    keep_values(plan);
    const StageAxes& axes = plan.stages.front().stage.axes;
    const double rows = count_of({axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(row_count_)});
    if (rows >= k_rows_of_item_ahead * k_items_per_unit * static_cast<double>(context_.device.compute_units))
      go_ahead(plan);
    return plan;
  }

 private:
  [[nodiscard]] StageAxes columns(const Stage& stage) const { return columns_of(stage, row_count_); }

  /// Whether the last stage is a map of all columns, in lanes, to memory.
  [[nodiscard]] bool ends_with_map(const LaneRowPlan& plan) const {
    const auto& last = plan.stages.back().stage;
    return last.kind == StageKind::map && columns_have_lanes(last, row_count_) && !contains(local_, last.buffer);
  }

  /// Whether the stage is a reduction that goes over the same columns in lanes.
  [[nodiscard]] bool goes_along(const Stage& stage, const Stage& map) const {
    return stage.kind == StageKind::reduce && columns_have_lanes(stage, row_count_) && stage.guards.empty() &&
           same_columns(columns(stage), columns(map));
  }

  void keep_values(LaneRowPlan& plan) const {
    auto& map = plan.stages.back().stage;
    const auto element = element_of_row(context_.buffers.size() - 1, columns(map));
    for (auto& row : plan.stages) {
      const auto& body = row.stage.body;
      if (!goes_along(row.stage, map) || arithmetic_of(body) < k_costly) continue;
      const auto reading = with_part(map, body, element);
      if (same_expression(reading.body, map.body)) continue;
      row.kept = *element;
      map = reading;
      return;
    }
  }

  void go_ahead(LaneRowPlan& plan) const {
    const auto& first = plan.stages.front();
    if (first.kept || !goes_along(first.stage, plan.stages.back().stage)) return;
    if (first.stage.axes.size() != row_count_ || !contains(local_, first.stage.buffer)) return;
    AxisValues renamed;
    for (std::size_t i = 0; i < row_count_; ++i) {
      StageAxis axis = first.stage.axes[i];
      const auto name = "next_" + axis.name;
      renamed[axis.name] = axis_index(name);
      axis.name = name;
      plan.next_rows.push_back(axis);
    }
    RowStage ahead = first;
    rewrite_stage(ahead.stage, [&](const StageExpr& node) {
      const auto value = node->op == StageOp::axis ? renamed.find(node->axis) : renamed.end();
      return value == renamed.end() ? StageExpr() : value->second;
    });
    std::copy(plan.next_rows.begin(), plan.next_rows.end(), ahead.stage.axes.begin());
    plan.ahead = std::move(ahead);
    plan.beside = stage_to_stand_beside(plan);
  }

  /// A reduction that keeps elements, which takes longest, unless both would gather in variables of the same names.
  [[nodiscard]] static std::size_t stage_to_stand_beside(const LaneRowPlan& plan) {
    const auto gathers_extremum = [](const Stage& stage) {
      return stage.op == ReduceOp::maximum || stage.op == ReduceOp::minimum;
    };
    for (std::size_t i = 1; i < plan.stages.size(); ++i) {
      const auto& row = plan.stages[i];
      if (row.kept && gathers_extremum(plan.ahead->stage) != gathers_extremum(row.stage)) return i;
    }
    return plan.stages.size() - 1;
  }

  const GroupContext& context_;
  std::size_t row_count_;
  const std::vector<std::size_t>& local_;
};

}  // namespace

LaneRowPlan lane_row_plan(const GroupContext& context, const std::vector<const Stage*>& stages, std::size_t row_count,
                          const std::vector<std::size_t>& local) {
  return Planner(context, row_count, local).plan(stages);
}

}  // namespace kw
