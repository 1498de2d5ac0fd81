#include "operators/program/kernels/lane_row_plan.hpp"

#include <algorithm>

#include "operators/program/kernels/lane_reduction.hpp"
#include "operators/program/kernels/lane_row_parts.hpp"
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
    for (std::size_t i = 0; i < stages.size(); ++i) {
      plan.stages.push_back({*stages[i], std::nullopt});
      plan.loops.push_back({i});
    }
    const StageAxes& axes = stages.front()->axes;
    plan.rows.emplace_back(axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(row_count_));
    if (stages.size() < 2 || !ends_with_map(plan)) return plan;
    if (count_of(columns(plan.stages.back().stage)) > static_cast<double>(k_near_columns)) return plan;
    keep_values(plan);
    if (count_of(plan.rows[0]) >= k_rows_of_item_ahead * k_items_per_unit * static_cast<double>(units()))
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

  [[nodiscard]] std::int64_t units() const { return context_.device.compute_units; }

  /// Whether the stage can be of another row than `map`, which is the last one.
  [[nodiscard]] bool can_go_ahead(const Stage& stage, const Stage& map) const {
    return goes_along(stage, map) && stage.axes.size() == row_count_ && contains(local_, stage.buffer);
  }

  /// Of the array, the last buffer, for the columns of `map`.
  [[nodiscard]] StageExpr kept_element(const Stage& map) const {
    return element_of_row(context_.buffers.size() - 1, columns(map));
  }

  void keep_values(LaneRowPlan& plan) const {
    auto& map = plan.stages.back().stage;
    const auto element = kept_element(map);
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
    if (go_in_parts(plan)) return;
    const auto& map = plan.stages.back().stage;
    const auto all = plan.stages.size();
    std::size_t fit = 0;
    while (fit + 1 < all && can_go_ahead(plan.stages[fit].stage, map)) ++fit;
    // Values are kept in the place of those of the row that is written, by the stage of the next one.
    if (fit + 1 == all && all <= std::size(k_row_prefixes) && (!plan.stages[0].kept || all == 2)) {
      plan.loops = {{}};
      for (std::size_t i = 0; i < all; ++i) {
        plan.loops[0].push_back(i);
        set_ahead(plan, i, static_cast<int>(all - 1 - i));
      }
    } else if (fit > 0 && !plan.stages[0].kept) {
      const auto beside = stage_to_stand_beside(plan);
      plan.loops[beside] = {0, beside};
      plan.loops.erase(plan.loops.begin());
      set_ahead(plan, 0, 1);
    }
  }

  [[nodiscard]] bool go_in_parts(LaneRowPlan& plan) const {
    Stage& map = plan.stages.back().stage;
    for (std::size_t i = 0; i + 1 < plan.stages.size(); ++i) {
      if (!can_go_ahead(plan.stages[i].stage, map)) return false;
    }
    const auto element = kept_element(map);
    const auto parts = row_parts(plan.stages, element);
    if (!parts || !parts_pay(count_of(columns(map)), context_.device)) return false;
    map = parts->map;
    plan.stages[1].kept = *element;
    plan.stages[1].keeps_argument = parts->are_logarithms;
    plan.in_parts = true;
    plan.loops = {{0}, {1, 2}};
    for (std::size_t i = 0; i < 2; ++i) {
      plan.stages[i].of_part = true;
      plan.stages[i].stage.in_parts = false;
      set_ahead(plan, i, 1);
    }
    return true;
  }

  void set_ahead(LaneRowPlan& plan, std::size_t index, int ahead) const {
    if (ahead == 0) return;
    auto& row = plan.stages[index];
    row.ahead = ahead;
    const std::string prefix = k_row_prefixes[ahead];
    AxisValues renamed;
    StageAxes rows;
    for (auto axis : plan.rows[0]) {
      renamed[axis.name] = axis_index(prefix + axis.name);
      axis.name = prefix + axis.name;
      rows.push_back(axis);
    }
    rewrite_stage(row.stage, [&](const StageExpr& node) {
      const auto value = node->op == StageOp::axis ? renamed.find(node->axis) : renamed.end();
      return value == renamed.end() ? StageExpr() : value->second;
    });
    std::copy(rows.begin(), rows.end(), row.stage.axes.begin());
    const auto number = static_cast<std::size_t>(ahead);
    if (plan.rows.size() <= number) plan.rows.resize(number + 1);
    plan.rows[number] = std::move(rows);
  }

  /// A reduction that keeps elements, which takes longest.
  [[nodiscard]] static std::size_t stage_to_stand_beside(const LaneRowPlan& plan) {
    for (std::size_t i = 1; i < plan.stages.size(); ++i) {
      if (plan.stages[i].kept) return i;
    }
    return plan.stages.size() - 1;
  }

  const GroupContext& context_;
  std::size_t row_count_;
  const std::vector<std::size_t>& local_;
};

}  // namespace

bool LaneRowPlan::keeps() const {
  return std::any_of(stages.begin(), stages.end(), [](const RowStage& row) { return row.kept.has_value(); });
}

LaneRowPlan lane_row_plan(const GroupContext& context, const std::vector<const Stage*>& stages, std::size_t row_count,
                          const std::vector<std::size_t>& local) {
  return Planner(context, row_count, local).plan(stages);
}

}  // namespace kw
