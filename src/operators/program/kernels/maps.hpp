#pragma once
// The family of maps for GPUs: several elements of a row for each work-item, by fours or a work-group's width apart,
// all of them read before the first is written. A row is the last axis, or the last few where that is short; indices
// along the outer axes are the same for a whole work-group.

#include "operators/program/kernels/program_bundle.hpp"

namespace kw {

/// A map that is no tiny one, in languages with shared memory and warps.
[[nodiscard]] bool maps_take(const GroupContext& context, const StageGroup& group);
[[nodiscard]] GroupKernels maps_kernels(const GroupContext& context, const StageGroup& group);

}  // namespace kw
