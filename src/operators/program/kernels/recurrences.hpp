#pragma once
// The family of recurrences. Where nothing better is known, all steps are in one launch, with a work-group of a GPU or
// a work-item of a CPU for each sequence. recurrence_lanes.hpp has CPUs go along lanes, recurrence_block.hpp keeps
// small weights in a GPU's registers, and recurrence_steps.hpp has GPUs launch each step.

#include "operators/program/kernels/program_bundle.hpp"

namespace kw {

/// The stages of a recurrence, all of them.
[[nodiscard]] bool recurrences_take(const GroupContext& context, const StageGroup& group);
[[nodiscard]] GroupKernels recurrence_kernels(const GroupContext& context, const StageGroup& group);
/// Without tunables.
[[nodiscard]] GroupKernels plain_recurrence_kernels(const GroupContext& context, const StageGroup& group);

}  // namespace kw
