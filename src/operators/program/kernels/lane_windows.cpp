#include "operators/program/kernels/lane_windows.hpp"

#include <algorithm>

#include "codegen/text.hpp"
#include "operators/program/kernels/affine_index.hpp"
#include "operators/program/kernels/body_writer.hpp"
#include "operators/program/kernels/kernel_signature.hpp"
#include "operators/program/kernels/lane_loops.hpp"
#include "operators/program/kernels/lane_reduction.hpp"
#include "operators/program/kernels/lane_scope.hpp"
#include "operators/program/kernels/row_coordinates.hpp"
#include "operators/program/kernels/stage_kernel.hpp"
#include "program/stages/access.hpp"
#include "program/stages/work.hpp"

namespace kw {
namespace {

/// Elements that a work-item is to read, so that starting it costs little beside them.
constexpr double k_elements_per_item = 32768;
/// A corner is evaluated for each of the guard's ends along each of these.
constexpr std::size_t k_most_inner_axes_of_guard = 2;

/// Whether the guard holds for all elements between two for which it does, however many axes lead from one to the
/// other: it compares sums of axes.
bool is_linear(const StageExpr& guard) {
  const auto& operands = guard->operands;
  if (guard->op == StageOp::both) return std::all_of(operands.begin(), operands.end(), is_linear);
  if (guard->op != StageOp::less && guard->op != StageOp::less_equal) return false;
  return std::all_of(operands.begin(), operands.end(),
                     [](const StageExpr& side) { return affine_index(side, {}).has_value(); });
}

StageAxes inner_axes_of(const StageExpr& guard, const Stage& stage) {
  StageAxes axes;
  std::ranges::copy_if(stage.inner, std::back_inserter(axes),
                       [&](const StageAxis& axis) { return depends_on(guard, axis.name); });
  return axes;
}

/// Whether the guard holds for all windows of sixteen neighbours along `axis`: it does at all corners.
StageExpr holds_for_sixteen(const StageExpr& guard, const Stage& stage, const std::string& axis) {
  const auto inner = inner_axes_of(guard, stage);
  StageExpr all;
  for (std::size_t corner = 0; corner < std::size_t{2} << inner.size(); ++corner) {
    AxisValues at;
    if (corner % 2 == 1) at[axis] = axis_index(axis) + StageExpr(k_lane_count - 1);
    for (std::size_t i = 0; i < inner.size(); ++i) {
      const bool last = (corner >> (i + 1)) % 2 == 1;
      at[inner[i].name] = last ? StageExpr(inner[i].extent) - 1 : StageExpr(0);
    }
    all = both(all, with_axes(guard, at));
  }
  return all;
}

Tunable lines_tunable(const Stage& stage) {
  Tunable lines{"LINES_PER_ITEM", {1, 2, 4, 8, 16, 32}, 1};
  const double elements = static_cast<double>(stage.axes.back().extent.value()) * count_of(stage.inner);
  for (const auto value : lines.values) {
    if (static_cast<double>(value) * elements <= k_elements_per_item) lines.default_value = value;
  }
  return lines;
}

class LaneWindowWriter {
 public:
  LaneWindowWriter(const GroupContext& context, const Stage& stage)
      : context_(context),
        element_{stage, std::nullopt},
        sixteen_{stage, std::nullopt},
        axis_(stage.axes.back()),
        lines_(stage.axes.begin(), stage.axes.end() - 1),
        scope_(context.buffers, stage, context.dialect),
        loops_(context, scope_, stage.axes.size()) {
    loops_.body() = BodyWriter().nested(1);
    for (const auto& guard : stage.guards) {
      if (depends_on(guard, axis_.name)) inside_ = both(inside_, holds_for_sixteen(guard, stage, axis_.name));
    }
    std::erase_if(sixteen_.stage.guards, [&](const StageExpr& guard) { return depends_on(guard, axis_.name); });
  }

  GroupKernels write() {
    const auto name = scope_.axis(axis_.name);
    const auto extent = scope_.extent(axis_.extent);
    auto& body = loops_.body();
    body.open(fmt::format("for (int {} = 0; {} < {};)", name, name, extent));
    const auto inside = inside_ ? " && " + scope_.text(inside_, Binding::both) : "";
    body.open(fmt::format("if ({} + {} <= {}{})", name, k_lane_count, extent, inside));
    write_sixteen();
    body.line(fmt::format("{} += {};", name, k_lane_count));
    body.line("continue;");
    body.close();
    write_element();
    body.line(fmt::format("++{};", name));
    body.close();
    return kernels(body.text());
  }

 private:
  void write_sixteen() {
    auto& body = loops_.body();
    const Stage& stage = sixteen_.stage;
    LaneScope lanes(scope_, axis_.name);
    const auto result = scope_.new_name("sixteen");
    body.line(fmt::format("float16 {} = {};", result, lane_reduction(stage)->start));
    for (const auto& axis : stage.inner) loops_.open_loop(axis);
    LaneScope inside = lanes;
    loops_.lane_step(sixteen_, inside, result, "");
    loops_.close(stage.inner.size());
    lanes.call_result(result);
    if (stage.epilogue) body.lines(lanes.shared_values({stage.epilogue}));
    body.line(lanes.store(place_of(stage), stage.epilogue ? lanes.text(stage.epilogue, true) : result));
    scope_.forget_values();
  }

  void write_element() {
    auto& body = loops_.body();
    const auto result = scope_.new_name("element");
    body.line(fmt::format("{} {} = 0;", kernel_type(result_type_of(element_.stage)), result));
    body.open("");
    loops_.over_columns(element_.stage, {loops_.reduction_work(element_, result)});
    body.close();
    loops_.store_result(element_.stage, result);
  }

  [[nodiscard]] GroupKernels kernels(const std::string& line) {
    const auto count = scope_.element_count(lines_);
    BodyWriter body;
    body.line("const long first = get_global_id(0) * LINES_PER_ITEM;");
    body.line(fmt::format("const long last = min(first + LINES_PER_ITEM, (long)({}));", count));
    body.open("for (long line = first; line < last; ++line)");
    body.lines(row_coordinates(lines_, scope_, "line"));
    body.raw(line);
    body.close();
    const KernelSignature signature(context_, scope_, loops_.written());
    auto kernels = signature.kernels(kernel_of_buffer(context_, element_.stage.buffer), "1", body.text());
    const auto lines = lines_.empty() ? "1" : count_expression(extents_of(lines_));
    kernels.launches[0].grid = {fmt::format("ceil_div({}, LINES_PER_ITEM)", lines)};
    kernels.tunables = {lines_tunable(element_.stage)};
    return kernels;
  }

  const GroupContext& context_;
  RowStage element_;  ///< the stage
  RowStage sixteen_;  ///< without the guards that hold inside
  StageAxis axis_;
  StageAxes lines_;
  StageExpr inside_;  ///< absent: everywhere
  KernelScope scope_;
  LaneLoops loops_;
};

/// Guards that are the same for sixteen neighbours, or hold for all windows of them where they do at the corners.
bool has_edges(const Stage& stage, const std::string& axis) {
  return std::ranges::all_of(stage.guards, [&](const StageExpr& guard) {
    return !depends_on(guard, axis) ||
           (is_linear(guard) && inner_axes_of(guard, stage).size() <= k_most_inner_axes_of_guard);
  });
}

}  // namespace

bool lane_windows_take(const GroupContext& context, const StageGroup& group) {
  if (!context.dialect->has_vectors || group.stages.size() != 1) return false;
  const Stage& stage = context.program.stages[group.stages[0]];
  if (group.rows != 0 && group.rows != stage.axes.size()) return false;
  if (stage.axes.empty() || stage.inner.empty() || lane_reduction(stage) == nullptr) return false;
  if (stage.axes.back().extent.value() < k_lane_count || LaneLoops::gathers_parts(stage)) return false;
  const auto is_long = [](const StageAxis& axis) { return axis.extent.value() >= k_lane_count; };
  if (std::ranges::any_of(stage.inner, is_long)) return false;
  const auto& axis = stage.axes.back().name;
  return has_edges(stage, axis) && has_lanes(stage.body, axis, LaneLoads::with_strides) &&
         has_lanes(stage.epilogue, axis) && is_contiguous(place_of(stage), axis);
}

GroupKernels lane_windows_kernels(const GroupContext& context, const StageGroup& group) {
  return LaneWindowWriter(context, context.program.stages[group.stages[0]]).write();
}

}  // namespace kw
