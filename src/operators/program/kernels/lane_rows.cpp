#include "operators/program/kernels/lane_rows.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "codegen/text.hpp"
#include "operators/program/kernels/accumulator.hpp"
#include "operators/program/kernels/body_writer.hpp"
#include "operators/program/kernels/kernel_signature.hpp"
#include "operators/program/kernels/lane_reduction.hpp"
#include "operators/program/kernels/lane_scope.hpp"
#include "operators/program/kernels/row_coordinates.hpp"
#include "operators/program/kernels/stage_kernel.hpp"
#include "program/stages/access.hpp"
#include "program/stages/work.hpp"

namespace kw {
namespace {

/// Elements that a work-item is to have, so that starting it costs little beside them.
constexpr double k_elements_per_item = 16384;
constexpr std::int64_t k_long_row = 4096;
/// Elements of a row, or rows of elements, that are summed one after the other.
constexpr int k_part = 512;

Tunable rows_tunable(double columns) {
  Tunable rows{"ROWS_PER_ITEM", {1, 4, 16, 64, 256}, 1};
  for (const auto value : rows.values) {
    if (static_cast<double>(value) * columns <= k_elements_per_item) rows.default_value = value;
  }
  return rows;
}

Tunable columns_tunable() {
  return {"COLUMNS_PER_ITEM", {1024, 4096, 16384, 65536}, 16384};
}

/// What stores an element of the stage goes to, as a load of its buffer.
StageNode place_of(const Stage& stage) {
  if (stage.place) return *stage.place;
  StageNode place;
  place.op = StageOp::load;
  place.tensor.buffer = stage.buffer;
  for (const auto& axis : stage.axes) {
    place.tensor.type.shape.push_back(axis.extent);
    place.operands.push_back(axis_index(axis.name));
  }
  return place;
}

class LaneRowsWriter {
 public:
  LaneRowsWriter(const GroupContext& context, const StageGroup& group)
      : context_(context),
        group_(group),
        stages_(stages_of(context, group)),
        row_count_(group.rows > 0 ? group.rows : stages_[0]->axes.size() - 1),
        scope_(context.buffers, stages_, context.dialect),
        rows_(stages_[0]->axes.begin(), stages_[0]->axes.begin() + static_cast<std::ptrdiff_t>(row_count_)) {}

  GroupKernels write() {
    if (rows_have_lanes()) return write_blocks_of_rows();
    return is_long_map() ? write_parts_of_rows() : write_rows();
  }

 private:
  static std::vector<const Stage*> stages_of(const GroupContext& context, const StageGroup& group) {
    std::vector<const Stage*> stages;
    for (const auto index : group.stages) stages.push_back(&context.program.stages[index]);
    return stages;
  }

  [[nodiscard]] StageAxes columns_of(const Stage& stage) const {
    if (stage.kind == StageKind::reduce) return stage.inner;
    return {stage.axes.begin() + static_cast<std::ptrdiff_t>(row_count_), stage.axes.end()};
  }

  /// Whether all of the group can be done for sixteen rows at once, and not along the row.
  [[nodiscard]] bool rows_have_lanes() const {
    if (rows_.empty() || group_.rows == 0) return false;
    const auto& axis = rows_.back().name;
    bool along_columns = false;
    for (const auto* stage : stages_) {
      const auto columns = columns_of(*stage);
      for_each_load(*stage, [&](const StageNode& load) {
        along_columns = along_columns || (!columns.empty() && is_contiguous(load, columns.back().name));
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

  /// Whether lanes can go along the last of the stage's columns.
  [[nodiscard]] bool columns_have_lanes(const Stage& stage) const {
    const auto columns = columns_of(stage);
    if (columns.empty() || columns.back().extent.value() < k_lane_count) return false;
    const auto& axis = columns.back().name;
    const auto fixed = [&](const StageExpr& guard) { return !depends_on(guard, axis); };
    if (!std::all_of(stage.guards.begin(), stage.guards.end(), fixed) || !has_lanes(stage.body, axis)) return false;
    if (stage.kind == StageKind::map) return is_contiguous(place_of(stage), axis);
    return lane_reduction(stage) != nullptr;
  }

  // What is inside of the loops, once with lanes and once without.

  void write_guards(const Stage& stage) {
    StageExpr guard;
    for (const auto& one : stage.guards) guard = both(guard, one);
    if (guard) body_.line(fmt::format("if (!({})) continue;", scope_.text(guard)));
  }

  void scalar_map(const Stage& stage) {
    body_.lines(scope_.shared_values({stage.body}, true));
    body_.line(scalar_store(stage, without_parentheses(scope_.text(stage.body))));
    scope_.forget_values();
  }

  [[nodiscard]] std::string scalar_store(const Stage& stage, const std::string& value) {
    const auto place = place_of(stage);
    const auto& buffer = context_.buffers[stage.buffer];
    written_.insert(stage.buffer);
    std::vector<std::string> indices;
    for (const auto& index : place.operands) indices.push_back(scope_.text(index, Binding::sum));
    return store_text(buffer.dtype, buffer.name, scope_.offset(indices, place.tensor.type.shape), value,
                      scope_.dialect());
  }

  void lane_map(const Stage& stage, LaneScope& lanes) {
    body_.lines(lanes.shared_values({stage.body}));
    body_.line(lanes.store(place_of(stage), lanes.text(stage.body, true)));
    written_.insert(stage.buffer);
  }

  void scalar_step(const Stage& stage, const Accumulator& accumulator) {
    write_guards(stage);
    body_.lines(scope_.shared_values({stage.body, stage.position}, true));
    const auto position = stage.position ? without_parentheses(scope_.text(stage.position)) : "";
    body_.lines(accumulator.step(without_parentheses(scope_.text(stage.body)), position));
    scope_.forget_values();
  }

  void lane_step(const Stage& stage, LaneScope& lanes, const std::string& variable) {
    const auto& reduction = *lane_reduction(stage);
    write_guards(stage);
    body_.lines(lanes.shared_values({stage.body}));
    const auto element = lanes.text(stage.body, true);
    if (gathers_parts(stage)) {
      // As the plain kernel does: a long sequential sum would lose too much.
      body_.line(fmt::format("lane_part += {};", element));
      body_.open(fmt::format("if ({0} % {1} >= {1} - {2})", scope_.axis(stage.inner.back().name), k_part,
                             lanes_along_row(stage, lanes) ? k_lane_count : 1));
      flush(variable);
      body_.close();
    } else {
      body_.line(fmt::format(fmt::runtime(reduction.step), variable, element));
    }
    if (reduction.helper != nullptr) scope_.need_own(reduction.helper);
  }

  void flush(const std::string& lanes) {
    body_.line(lanes + " += lane_part;");
    body_.line("lane_part = 0.0f;");
  }

  /// Parts do not go on in the next row of columns, which may be too short to fill one.
  void flush_row(const Stage& stage, bool in_lanes) {
    if (!gathers_parts(stage)) return;
    body_.line("sum += part;");
    body_.line("part = 0.0f;");
    if (in_lanes) flush("lanes");
  }

  static bool gathers_parts(const Stage& stage) {
    return stage.in_parts && stage.op == ReduceOp::sum && stage.body->type == StageType::real;
  }

  static bool lanes_along_row(const Stage& stage, LaneScope& lanes) {
    return lanes.varies(axis_index(stage.inner.back().name));
  }

  // Loops.

  std::size_t open_outer(const StageAxes& columns) {
    for (std::size_t i = 0; i + 1 < columns.size(); ++i) open_loop(columns[i]);
    return columns.empty() ? 0 : columns.size() - 1;
  }

  void open_loop(const StageAxis& axis) {
    body_.open(fmt::format("for (int {0} = 0; {0} < {1}; ++{0})", scope_.axis(axis.name), scope_.extent(axis.extent)));
  }

  void close(std::size_t loops) {
    for (std::size_t i = 0; i < loops; ++i) body_.close();
  }

  /// Over all columns of the row: in sixteens where lanes fit, and the rest one by one.
  template <typename InLanes, typename One, typename AfterRow>
  void over_columns(const Stage& stage, const std::string& first, const std::string& last, const InLanes& in_lanes,
                    const One& one, const AfterRow& after_row) {
    const auto columns = columns_of(stage);
    const auto outer = open_outer(columns);
    if (columns.empty()) {
      one();
      return;
    }
    const auto name = scope_.axis(columns.back().name);
    const auto end = last.empty() ? scope_.extent(columns.back().extent) : last;
    if (columns_have_lanes(stage)) {
      body_.line(fmt::format("int {} = {};", name, first));
      body_.open(fmt::format("for (; {0} + {1} <= {2}; {0} += {1})", name, k_lane_count, end));
      LaneScope lanes(scope_, columns.back().name);
      in_lanes(lanes);
      body_.close();
      body_.open(fmt::format("for (; {0} < {1}; ++{0})", name, end));
    } else {
      body_.open(fmt::format("for (int {0} = {1}; {0} < {2}; ++{0})", name, first, end));
    }
    one();
    body_.close();
    after_row();
    close(outer);
  }

  void map_of_row(const Stage& stage, const std::string& first, const std::string& last) {
    body_.open("");
    over_columns(
        stage, first, last, [&](LaneScope& lanes) { lane_map(stage, lanes); }, [&] { scalar_map(stage); }, [] {});
    body_.close();
  }

  void reduction_of_row(const Stage& stage) {
    const auto result = open_reduction(stage);
    const bool in_lanes = columns_have_lanes(stage);
    const auto accumulator = accumulator_of(stage, scope_.axis(stage.inner.back().name));
    for (const auto& helper : accumulator.own_helpers) scope_.need_own(helper);
    body_.lines(accumulator.declarations);
    const auto* reduction = in_lanes ? lane_reduction(stage) : nullptr;
    if (reduction != nullptr) body_.line(fmt::format("float16 lanes = {};", reduction->start));
    if (reduction != nullptr && gathers_parts(stage)) body_.line("float16 lane_part = 0.0f;");
    over_columns(
        stage, "0", "", [&](LaneScope& lanes) { lane_step(stage, lanes, "lanes"); },
        [&] { scalar_step(stage, accumulator); }, [&] { flush_row(stage, in_lanes); });
    if (reduction != nullptr) {
      scope_.need_own(reduction->gather);
      body_.line(fmt::format(fmt::runtime(reduction->merge), fmt::format("{}(lanes)", reduction->gather)));
    }
    close_reduction(stage, accumulator, result);
  }

  [[nodiscard]] std::string open_reduction(const Stage& stage) {
    auto result = scope_.new_name(kernel_name(context_.program.buffers[stage.buffer].name + "_of_row"));
    body_.line(fmt::format("{} {} = 0;", kernel_type(result_type_of(stage)), result));
    body_.open("");
    return result;
  }

  void close_reduction(const Stage& stage, const Accumulator& accumulator, const std::string& result) {
    scope_.call_result(accumulator.result);
    const auto value = stage.epilogue ? stage.epilogue : reduction_result(stage.body->type);
    body_.lines(scope_.shared_values({stage.epilogue}, true));
    body_.line(fmt::format("{} = {};", result, without_parentheses(scope_.text(value))));
    scope_.forget_values();
    body_.close();
    if (!is_local(stage.buffer)) body_.line(scalar_store(stage, result));
    scope_.hold(stage.buffer, result);
  }

  void stages_of_row() {
    for (const auto* stage : stages_) {
      if (stage->kind == StageKind::reduce) {
        reduction_of_row(*stage);
      } else {
        map_of_row(*stage, "0", "");
      }
    }
  }

  void stages_of_sixteen_rows() {
    LaneScope lanes(scope_, rows_.back().name);
    for (const auto* stage : stages_) {
      const auto columns = columns_of(*stage);
      if (stage->kind == StageKind::map) {
        for (const auto& axis : columns) open_loop(axis);
        LaneScope inside = lanes;
        lane_map(*stage, inside);
        close(columns.size());
        continue;
      }
      const auto& reduction = *lane_reduction(*stage);
      const auto name = scope_.new_name(kernel_name(context_.program.buffers[stage->buffer].name + "_of_rows"));
      body_.line(fmt::format("float16 {} = {};", name, reduction.start));
      body_.open("");
      if (gathers_parts(*stage)) body_.line("float16 lane_part = 0.0f;");
      for (const auto& axis : columns) open_loop(axis);
      LaneScope inside = lanes;
      lane_step(*stage, inside, name);
      body_.close();
      if (gathers_parts(*stage)) flush(name);
      close(columns.size() - 1);
      body_.close();
      finish_lanes(*stage, lanes, name);
    }
  }

  void finish_lanes(const Stage& stage, LaneScope& lanes, const std::string& name) {
    auto result = name;
    if (stage.epilogue) {
      LaneScope inside = lanes;
      inside.call_result(name);
      body_.lines(inside.shared_values({stage.epilogue}));
      result = scope_.new_name(name + "_result");
      body_.line(
          fmt::format("const {} {} = {};", lane_type(stage.epilogue->type), result, inside.text(stage.epilogue, true)));
    }
    if (!is_local(stage.buffer)) {
      body_.line(lanes.store(place_of(stage), result));
      written_.insert(stage.buffer);
    }
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
    body_ = BodyWriter().nested(1);
    stages_of_row();
    BodyWriter outside;
    const auto all = scope_.element_count(rows_);
    outside.line("const long first = get_global_id(0) * ROWS_PER_ITEM;");
    outside.line(fmt::format("const long last = min(first + ROWS_PER_ITEM, (long)({}));", all));
    outside.open("for (long row = first; row < last; ++row)");
    outside.lines(coordinates(rows_.size()));
    outside.raw(body_.text());
    outside.close();
    double columns = 0.0;
    for (const auto* stage : stages_) columns += count_of(columns_of(*stage));
    return kernels(outside.text(), fmt::format("ceil_div({}, ROWS_PER_ITEM)", count_text(rows_.size())),
                   {rows_tunable(columns)});
  }

  GroupKernels write_parts_of_rows() {
    const auto& stage = *stages_[0];
    const auto columns = stage.axes.back().extent;
    map_of_row(stage, "first", "last");
    BodyWriter outside;
    const auto extent = scope_.extent(columns);
    outside.line(fmt::format("const int chunks = ({} + COLUMNS_PER_ITEM - 1) / COLUMNS_PER_ITEM;", extent));
    outside.line("const long row = get_global_id(0) / chunks;");
    outside.line("const int first = (int)(get_global_id(0) % chunks) * COLUMNS_PER_ITEM;");
    outside.line(fmt::format("const int last = min(first + COLUMNS_PER_ITEM, {});", extent));
    outside.lines(coordinates(rows_.size()));
    outside.raw(body_.text());
    return kernels(outside.text(),
                   fmt::format("({}) * ceil_div({}, COLUMNS_PER_ITEM)", count_text(rows_.size()), columns.text()),
                   {columns_tunable()});
  }

  GroupKernels write_blocks_of_rows() {
    const auto& axis = rows_.back();
    const auto name = scope_.axis(axis.name);
    const auto extent = scope_.extent(axis.extent);
    body_.open(fmt::format("if (first + {} <= {})", k_lane_count, extent));
    body_.line(fmt::format("const int {} = first;", name));
    stages_of_sixteen_rows();
    body_.close();
    body_.open("else");
    body_.open(fmt::format("for (int {0} = first; {0} < {1}; ++{0})", name, extent));
    stages_of_row();
    body_.close();
    body_.close();
    BodyWriter outside;
    outside.line(fmt::format("const int blocks = ({} + {}) / {};", extent, k_lane_count - 1, k_lane_count));
    outside.line("const long row = get_global_id(0) / blocks;");
    outside.line(fmt::format("const int first = (int)(get_global_id(0) % blocks) * {};", k_lane_count));
    outside.lines(coordinates(rows_.size() - 1));
    outside.raw(body_.text());
    return kernels(
        outside.text(),
        fmt::format("({}) * ceil_div({}, {})", count_text(rows_.size() - 1), axis.extent.text(), k_lane_count), {});
  }

  [[nodiscard]] GroupKernels kernels(const std::string& body, const std::string& grid,
                                     std::vector<Tunable> tunables) const {
    const KernelSignature signature(context_, scope_, written_);
    auto kernels = signature.kernels(kernel_of_buffer(context_, stages_.back()->buffer), "1", body);
    kernels.launches[0].grid = {grid};
    kernels.tunables = std::move(tunables);
    return kernels;
  }

  const GroupContext& context_;
  const StageGroup& group_;
  std::vector<const Stage*> stages_;
  std::size_t row_count_;
  KernelScope scope_;
  StageAxes rows_;
  BodyWriter body_;
  std::set<std::size_t> written_;
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
