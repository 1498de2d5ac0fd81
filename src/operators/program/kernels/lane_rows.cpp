#include "operators/program/kernels/lane_rows.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "codegen/text.hpp"
#include "operators/program/kernels/body_writer.hpp"
#include "operators/program/kernels/kernel_signature.hpp"
#include "operators/program/kernels/lane_loops.hpp"
#include "operators/program/kernels/lane_reduction.hpp"
#include "operators/program/kernels/lane_row_loops.hpp"
#include "operators/program/kernels/lane_row_parts.hpp"
#include "operators/program/kernels/lane_row_plan.hpp"
#include "operators/program/kernels/lane_scope.hpp"
#include "operators/program/kernels/row_coordinates.hpp"
#include "operators/program/kernels/stage_kernel.hpp"
#include "program/stages/access.hpp"
#include "program/stages/work.hpp"

namespace kw {
namespace {

/// The buffers of a program, and the array that values of a row are kept in.
std::vector<KernelBuffer> with_kept_row(std::vector<KernelBuffer> buffers) {
  buffers.push_back({"kept_row", "", DType::f32, true});
  return buffers;
}

/// Elements that a work-item is to have, so that starting it costs little beside them.
constexpr double k_row_elements_per_item = 16384;
/// Work-items for each processor from which on it matters little that one ends last.
constexpr double k_many_items = 24;
constexpr std::int64_t k_long_row = 4096;

Tunable rows_tunable(double columns) {
  Tunable rows{"ROWS_PER_ITEM", {1, 4, 16, 64, 256}, 1};
  for (const auto value : rows.values) {
    if (static_cast<double>(value) * columns <= k_row_elements_per_item) rows.default_value = value;
  }
  return rows;
}

/// Where the next row is read while one is written, an item's first row is waited for. So items have as many rows as
/// leave `least_items`.
Tunable rows_tunable_ahead(double rows, double least_items) {
  Tunable tunable{"ROWS_PER_ITEM", {1, 4, 16, 64, 256}, k_rows_of_item_ahead};
  for (const auto value : tunable.values) {
    if (static_cast<double>(value) * least_items <= rows)
      tunable.default_value = std::max(tunable.default_value, value);
  }
  return tunable;
}

Tunable columns_tunable() {
  return {"COLUMNS_PER_ITEM", {1024, 4096, 16384, 65536}, 16384};
}

class LaneRowsWriter {
 public:
  LaneRowsWriter(const GroupContext& context, const StageGroup& group)
      : buffers_(with_kept_row(context.buffers)),
        context_{context.program, buffers_, context.dialect, context.device, context.ways, context.contracts},
        group_(group),
        stages_(stages_of(context, group)),
        row_count_(group.rows > 0 ? group.rows : stages_[0]->axes.size() - 1),
        plan_(lane_row_plan(context_, stages_, row_count_, group.local)),
        scope_(buffers_, with_ahead(stages_, plan_), context.dialect),
        rows_(stages_[0]->axes.begin(), stages_[0]->axes.begin() + static_cast<std::ptrdiff_t>(row_count_)),
        loops_(context_, scope_, row_count_) {}

  GroupKernels write() {
    if (rows_have_lanes()) return write_blocks_of_rows();
    return is_long_map() ? write_parts_of_rows() : write_rows();
  }

 private:
  static std::vector<const Stage*> with_ahead(std::vector<const Stage*> stages, const LaneRowPlan& plan) {
    for (const auto& row : plan.stages) {
      if (row.ahead > 0) stages.push_back(&row.stage);
    }
    return stages;
  }

  [[nodiscard]] BodyWriter& body() { return loops_.body(); }

  /// Whether all of the group can be done for sixteen rows at once, and not along the row.
  [[nodiscard]] bool rows_have_lanes() const {
    if (rows_.empty() || group_.rows == 0) return false;
    const auto& axis = rows_.back().name;
    bool along_columns = false;
    for (const auto* stage : stages_) {
      const auto columns = columns_of(*stage, row_count_);
      for_each_load(*stage, [&](const StageNode& load) {
        along_columns = along_columns || goes_along_columns(load, rows_, columns);
      });
      const bool gathers = stage->kind == StageKind::map || lane_reduction(*stage) != nullptr;
      if (!gathers || !has_lanes(stage->body, axis) || !has_lanes(stage->epilogue, axis)) return false;
      if (!is_contiguous(place_of(*stage), axis) && !is_local(stage->buffer)) return false;
      const auto fixed = [&](const StageExpr& guard) { return !depends_on(guard, axis); };
      if (!std::all_of(stage->guards.begin(), stage->guards.end(), fixed)) return false;
    }
    return !along_columns && rows_.back().extent.value() >= k_lane_count;
  }

  [[nodiscard]] bool is_long_map() const {
    return stages_.size() == 1 && stages_[0]->kind == StageKind::map && !stages_[0]->place &&
           stages_[0]->axes.back().extent.value() >= k_long_row;
  }

  [[nodiscard]] bool is_local(std::size_t buffer) const {
    return std::find(group_.local.begin(), group_.local.end(), buffer) != group_.local.end();
  }

  // A row.

  [[nodiscard]] std::string name_of(const Stage& stage, const std::string& end) {
    return scope_.new_name(kernel_name(context_.program.buffers[stage.buffer].name + end));
  }

  /// Of a row that is done by itself.
  void stages_of_row() {
    for (const auto* stage : stages_) {
      const RowStage row{*stage, std::nullopt};
      const bool reduces = stage->kind == StageKind::reduce;
      const auto result = reduces ? name_of(*stage, "_of_row") : std::string();
      if (reduces) body().line(fmt::format("{} {} = 0;", kernel_type(result_type_of(*stage)), result));
      body().open("");
      loops_.over_columns(*stage, {reduces ? loops_.reduction_work(row, result) : loops_.map_work(*stage)});
      body().close();
      if (!reduces) continue;
      if (!is_local(stage->buffer)) loops_.store_result(*stage, result);
      scope_.hold(stage->buffer, result);
    }
  }

  void stages_of_sixteen_rows() {
    LaneScope lanes(scope_, rows_.back().name);
    for (const auto* stage : stages_) {
      const auto columns = columns_of(*stage, row_count_);
      if (stage->kind == StageKind::map) {
        for (const auto& axis : columns) loops_.open_loop(axis);
        LaneScope inside = lanes;
        loops_.lane_map(*stage, inside);
        loops_.close(columns.size());
        continue;
      }
      const auto name = name_of(*stage, "_of_rows");
      body().line(fmt::format("float16 {} = {};", name, lane_reduction(*stage)->start));
      body().open("");
      const bool parts = LaneLoops::gathers_parts(*stage);
      if (parts) body().line("float16 lane_part = 0.0f;");
      for (std::size_t i = 0; i + 1 < columns.size(); ++i) loops_.open_loop(columns[i]);
      if (parts) {
        const auto index = scope_.axis(columns.back().name);
        body().line(fmt::format("int {} = 0;", index));
        loops_.open_parts(index, scope_.extent(columns.back().extent), 1);
      } else {
        loops_.open_loop(columns.back());
      }
      LaneScope inside = lanes;
      loops_.lane_step({*stage, std::nullopt}, inside, name, "lane_part");
      body().close();
      if (parts) {
        loops_.flush(name, "lane_part");
        body().close();
      }
      loops_.close(columns.size() - 1);
      body().close();
      finish_lanes(*stage, lanes, name);
    }
  }

  void finish_lanes(const Stage& stage, LaneScope& lanes, const std::string& name) {
    auto result = name;
    if (stage.epilogue) {
      LaneScope inside = lanes;
      inside.call_result(name);
      body().lines(inside.shared_values({stage.epilogue}));
      result = scope_.new_name(name + "_result");
      body().line(
          fmt::format("const {} {} = {};", lane_type(stage.epilogue->type), result, inside.text(stage.epilogue, true)));
    }
    if (!is_local(stage.buffer)) loops_.store_lanes(stage, lanes, result);
    lanes.hold(stage.buffer, result);
  }

  /// Indices of rows [0, count) of rows_.
  [[nodiscard]] std::vector<std::string> coordinates(std::size_t count) {
    return row_coordinates({rows_.begin(), rows_.begin() + static_cast<std::ptrdiff_t>(count)}, scope_);
  }

  [[nodiscard]] Shape row_shape(std::size_t count) const {
    Shape shape;
    for (std::size_t i = 0; i < count; ++i) shape.push_back(rows_[i].extent);
    return shape;
  }

  [[nodiscard]] std::string count_text(std::size_t count) const {
    return count == 0 ? "1" : count_expression(row_shape(count));
  }

  GroupKernels write_rows() {
    LaneRowLoops rows(context_, plan_, loops_, scope_, group_.local);
    body() = BodyWriter().nested(1);
    rows.write_loops(0);
    const auto stages = std::exchange(body(), BodyWriter()).text();
    body().line("const long first = get_global_id(0) * ROWS_PER_ITEM;");
    body().line(fmt::format("const long last = min(first + ROWS_PER_ITEM, (long)({}));", scope_.element_count(rows_)));
    rows.write_before();
    body().open("for (long row = first; row < last; ++row)");
    rows.write_head(0);
    body().raw(stages);
    body().close();
    double columns = 0.0;
    for (const auto* stage : stages_) columns += count_of(columns_of(*stage, row_count_));
    auto written = kernels(
        body().text(), fmt::format("ceil_div({}, ROWS_PER_ITEM)", count_text(rows_.size())),
        {plan_.ahead() > 0
             ? rows_tunable_ahead(count_of(rows_), k_many_items * static_cast<double>(context_.device.compute_units))
             : rows_tunable(columns)});
    if (plan_.keeps()) written.constraints = constraint_of_kept();
    if (plan_.in_parts) written.tunables.push_back(part_tunable());
    return written;
  }

  /// For other sizes of the module, whose rows may be longer than the array.
  [[nodiscard]] std::vector<std::string> constraint_of_kept() const {
    Shape columns;
    bool constant = true;
    for (const auto& axis : columns_of(*stages_.back(), row_count_)) {
      columns.push_back(axis.extent);
      constant = constant && axis.extent.is_constant();
    }
    if (constant) return {};
    return {fmt::format("{} <= {}", count_expression(columns), k_near_columns)};
  }

  GroupKernels write_parts_of_rows() {
    const auto& stage = *stages_[0];
    const auto columns = stage.axes.back().extent;
    body().open("");
    loops_.over_columns(stage, {loops_.map_work(stage)}, "first", "last");
    body().close();
    BodyWriter outside;
    const auto extent = scope_.extent(columns);
    outside.line(fmt::format("const int chunks = ({} + COLUMNS_PER_ITEM - 1) / COLUMNS_PER_ITEM;", extent));
    outside.line("const long row = get_global_id(0) / chunks;");
    outside.line("const int first = (int)(get_global_id(0) % chunks) * COLUMNS_PER_ITEM;");
    outside.line(fmt::format("const int last = min(first + COLUMNS_PER_ITEM, {});", extent));
    outside.lines(coordinates(rows_.size()));
    outside.raw(body().text());
    return kernels(outside.text(),
                   fmt::format("({}) * ceil_div({}, COLUMNS_PER_ITEM)", count_text(rows_.size()), columns.text()),
                   {columns_tunable()});
  }

  GroupKernels write_blocks_of_rows() {
    const auto& axis = rows_.back();
    const auto name = scope_.axis(axis.name);
    const auto extent = scope_.extent(axis.extent);
    body().open(fmt::format("if (first + {} <= {})", k_lane_count, extent));
    body().line(fmt::format("const int {} = first;", name));
    stages_of_sixteen_rows();
    body().close();
    body().open("else");
    body().open(fmt::format("for (int {0} = first; {0} < {1}; ++{0})", name, extent));
    stages_of_row();
    body().close();
    body().close();
    BodyWriter outside;
    outside.line(fmt::format("const int blocks = ({} + {}) / {};", extent, k_lane_count - 1, k_lane_count));
    outside.line("const long row = get_global_id(0) / blocks;");
    outside.line(fmt::format("const int first = (int)(get_global_id(0) % blocks) * {};", k_lane_count));
    outside.lines(coordinates(rows_.size() - 1));
    outside.raw(body().text());
    return kernels(
        outside.text(),
        fmt::format("({}) * ceil_div({}, {})", count_text(rows_.size() - 1), axis.extent.text(), k_lane_count), {});
  }

  [[nodiscard]] GroupKernels kernels(const std::string& body, const std::string& grid,
                                     std::vector<Tunable> tunables) const {
    const KernelSignature signature(context_, scope_, loops_.written());
    auto kernels = signature.kernels(kernel_of_buffer(context_, stages_.back()->buffer), "1", body);
    kernels.launches[0].grid = {grid};
    for (auto& tunable : loops_.stream_tunables()) tunables.push_back(std::move(tunable));
    kernels.tunables = std::move(tunables);
    return kernels;
  }

  std::vector<KernelBuffer> buffers_;
  GroupContext context_;
  const StageGroup& group_;
  std::vector<const Stage*> stages_;
  std::size_t row_count_;
  LaneRowPlan plan_;
  KernelScope scope_;
  StageAxes rows_;
  LaneLoops loops_;
};

}  // namespace

bool lane_rows_take(const GroupContext& context, const StageGroup& group) {
  if (!context.dialect->has_vectors) return false;
  if (group.rows > 0) return true;
  const auto& stage = context.program.stages[group.stages[0]];
  return group.stages.size() == 1 && stage.kind == StageKind::map && !stage.axes.empty() &&
         stage.axes.back().extent.value() >= k_lane_count;
}

GroupKernels lane_rows_kernels(const GroupContext& context, const StageGroup& group) {
  return LaneRowsWriter(context, group).write();
}

}  // namespace kw
