#pragma once
// The family of maps for GPUs: several elements of a row for each work-item, a work-group's width apart, all of them
// read before the first is written. Indices along the outer axes are the same for a whole work-group.

#include "operators/program/kernels/program_bundle.hpp"

namespace kw {

/// A map whose last axis is long enough for work-groups of its own, in languages with shared memory and warps.
[[nodiscard]] bool maps_take(const GroupContext& context, const StageGroup& group);
[[nodiscard]] GroupKernels maps_kernels(const GroupContext& context, const StageGroup& group);

}  // namespace kw
