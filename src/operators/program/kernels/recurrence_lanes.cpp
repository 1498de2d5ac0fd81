#include "operators/program/kernels/recurrence_lanes.hpp"

#include "codegen/text.hpp"
#include "operators/program/kernels/kernel_signature.hpp"
#include "operators/program/kernels/lane_loops.hpp"
#include "operators/program/kernels/lane_streams.hpp"
#include "operators/program/kernels/recurrence_shape.hpp"
#include "operators/program/kernels/stage_kernel.hpp"

namespace kw {
namespace {

constexpr std::size_t k_row_axes = 2;  ///< the sequence and the step

class LaneRecurrenceWriter {
 public:
  LaneRecurrenceWriter(const GroupContext& context, const StageGroup& group)
      : context_(context),
        stages_(stages_of(context, group)),
        scope_(context.buffers, stages_, context.dialect),
        loops_(context, scope_, k_row_axes) {}

  GroupKernels write() {
    const auto& axes = stages_.front()->axes;
    const bool backwards = stages_.front()->backwards;
    const auto step = scope_.axis(axes[1].name);
    const auto steps = scope_.extent(axes[1].extent);
    body().line(fmt::format("const int {} = get_group_id(0);", scope_.axis(axes[0].name)));
    body().open("");
    body().line(fmt::format("const int {} = {};", step, backwards ? steps + " - 1" : "0"));
    write_stages(true);
    body().close();
    body().open(backwards ? fmt::format("for (int {0} = {1} - 2; {0} >= 0; --{0})", step, steps)
                          : fmt::format("for (int {0} = 1; {0} < {1}; ++{0})", step, steps));
    write_stages(false);
    body().close();
    const KernelSignature signature(context_, scope_, loops_.written());
    auto kernels = signature.kernels(kernel_of_buffer(context_, stages_.back()->buffer), "1", body().text());
    kernels.launches[0].grid = {count_expression({axes[0].extent})};
    for (const auto& tunable : loops_.stream_tunables()) kernels.tunables.push_back(tunable);
    return kernels;
  }

 private:
  [[nodiscard]] BodyWriter& body() { return loops_.body(); }

  void write_stages(bool first) {
    for (const auto* stage : stages_) {
      auto part = stage_at_step(*stage, first);
      part.kind = reduces(*stage) ? StageKind::reduce : StageKind::map;
      part.kind == StageKind::reduce ? write_reduction(part) : write_map(part);
    }
  }

  void write_reduction(const Stage& stage) {
    const RowStage row{stage, std::nullopt};
    const auto result = scope_.new_name("state");
    loops_.open_loop(stage.axes.back());
    body().line(fmt::format("float {};", result));
    body().open("");
    loops_.over_columns(stage, {loops_.reduction_work(row, result)});
    body().close();
    loops_.store_result(stage, result);
    body().close();
  }

  void write_map(const Stage& stage) {
    body().open("");
    loops_.over_columns(stage, {loops_.map_work(stage)});
    body().close();
  }

  const GroupContext& context_;
  std::vector<const Stage*> stages_;
  KernelScope scope_;
  LaneLoops loops_;
};

}  // namespace

GroupKernels lane_recurrence_kernels(const GroupContext& context, const StageGroup& group) {
  return LaneRecurrenceWriter(context, group).write();
}

}  // namespace kw
