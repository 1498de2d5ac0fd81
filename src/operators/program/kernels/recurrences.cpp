#include "operators/program/kernels/recurrences.hpp"

#include "base/text.hpp"
#include "codegen/text.hpp"
#include "operators/program/kernels/accumulator.hpp"
#include "operators/program/kernels/body_writer.hpp"
#include "operators/program/kernels/kernel_signature.hpp"
#include "operators/program/kernels/recurrence_block.hpp"
#include "operators/program/kernels/recurrence_lanes.hpp"
#include "operators/program/kernels/recurrence_steps.hpp"
#include "operators/program/kernels/row_sharing.hpp"
#include "operators/program/kernels/stage_kernel.hpp"

namespace kw {
namespace {

class RecurrenceWriter {
 public:
  /// `threads` of a work-group, a number or the name of a tunable.
  RecurrenceWriter(const GroupContext& context, const StageGroup& group, std::string threads)
      : context_(context),
        stages_(stages_of(context, group)),
        threads_(std::move(threads)),
        scope_(context.buffers, stages_, context.dialect) {}

  GroupKernels write() {
    const auto& axes = stages_.front()->axes;
    body_.line(
        fmt::format("const int {} = {};", scope_.axis(axes[0].name), is_alone() ? "get_group_id(0)" : "blockIdx.x"));
    const auto step = scope_.axis(axes[1].name);
    const auto steps = scope_.extent(axes[1].extent);
    body_.open(stages_.front()->backwards ? fmt::format("for (int {0} = {1} - 1; {0} >= 0; --{0})", step, steps)
                                          : fmt::format("for (int {0} = 0; {0} < {1}; ++{0})", step, steps));
    for (const auto* stage : stages_) write_stage(*stage);
    body_.close();
    std::set<std::size_t> written;
    for (const auto* stage : stages_) written.insert(stage->buffer);
    const KernelSignature signature(context_, scope_, written);
    auto kernels = signature.kernels(kernel_of_buffer(context_, stages_.back()->buffer), threads_, body_.text());
    kernels.launches[0].grid = {count_expression({axes[0].extent})};
    kernels.own_helpers.insert(own_helpers_.begin(), own_helpers_.end());
    return kernels;
  }

 private:
  /// Whether a work-group is a single work-item, which needs nobody's results.
  [[nodiscard]] bool is_alone() const { return context_.dialect->has_vectors; }

  /// The features of one step. Sums of a GPU are shared by the lanes of a warp, which read neighbouring weights.
  void write_stage(const Stage& stage) {
    const bool shares = !is_alone() && reduces(stage);
    const auto feature = scope_.axis(stage.axes[2].name);
    const auto first = is_alone() ? "0" : shares ? "threadIdx.x / 32" : "threadIdx.x";
    const auto stride = is_alone() ? "1" : threads_ + (shares ? " / 32" : "");
    body_.open(fmt::format("for (int {0} = {1}; {0} < {2}; {0} += {3})", feature, first,
                           scope_.extent(stage.axes[2].extent), stride));
    if (reduces(stage)) gather(stage);
    const auto value = reduces(stage) && stage.epilogue ? stage.epilogue
                       : reduces(stage)                 ? reduction_result(stage.body->type)
                                                        : stage.body;
    if (shares) body_.open("if (threadIdx.x % 32 == 0)");
    body_.lines(scope_.shared_values({value}, true));
    const auto& buffer = context_.buffers[stage.buffer];
    body_.line(store_text(buffer.dtype, buffer.name, own_place(stage), without_parentheses(scope_.text(value)),
                          scope_.dialect()));
    if (shares) body_.close();
    body_.close();
    scope_.forget_values();
    if (!is_alone()) body_.line("__syncthreads();");
  }

  void gather(const Stage& stage) {
    const auto accumulator = accumulator_of(stage, scope_.axis(stage.inner.back().name));
    scope_.call_result(accumulator.result);
    own_helpers_.insert(accumulator.own_helpers.begin(), accumulator.own_helpers.end());
    body_.lines(accumulator.declarations);
    const auto& last = stage.inner.back();
    for (const auto& axis : stage.inner) {
      const bool shared = !is_alone() && axis.name == last.name;
      body_.open(fmt::format("for (int {0} = {1}; {0} < {2}; {0} += {3})", scope_.axis(axis.name),
                             shared ? "threadIdx.x % 32" : "0", scope_.extent(axis.extent), shared ? 32 : 1));
    }
    body_.lines(accumulator.step(without_parentheses(scope_.text(stage.body)), ""));
    for (std::size_t i = 0; i < stage.inner.size(); ++i) body_.close();
    if (!is_alone()) write_gathering_in_warp(body_, accumulator, 32, context_.dialect);
  }

  std::string own_place(const Stage& stage) {
    std::vector<std::string> indices;
    Shape shape;
    for (const auto& axis : stage.axes) {
      indices.push_back(scope_.axis(axis.name));
      shape.push_back(axis.extent);
    }
    return scope_.offset(indices, shape);
  }

  const GroupContext& context_;
  std::vector<const Stage*> stages_;
  std::string threads_;
  KernelScope scope_;
  BodyWriter body_;
  std::set<std::string> own_helpers_;
};

}  // namespace

bool recurrences_take(const GroupContext& context, const StageGroup& group) {
  return context.program.stages[group.stages.front()].kind == StageKind::step;
}

GroupKernels recurrence_kernels(const GroupContext& context, const StageGroup& group) {
  if (context.dialect->has_vectors) return lane_recurrence_kernels(context, group);
  if (const auto shape = StepShape::of(context.program, group.stages)) {
    const auto block = block_recurrence_kernels(context, *shape);
    return block ? *block : step_kernels(context, *shape);
  }
  auto kernels = RecurrenceWriter(context, group, "STEP_THREADS").write();
  kernels.tunables = {{"STEP_THREADS", {64, 128, 256, 512, 1024}, 256}};
  return kernels;
}

GroupKernels plain_recurrence_kernels(const GroupContext& context, const StageGroup& group) {
  return RecurrenceWriter(context, group, context.dialect->has_vectors ? "1" : "1024").write();
}

}  // namespace kw
