#pragma once
// The family of what works on rows, for GPUs: reductions, softmax, norms, losses. A work-group computes everything of
// its rows, one stage after the other: its work-items share a row's elements and gather their parts in shared memory.
// Rows whose elements are contiguous have a work-group each; where neighbouring rows are what is contiguous, a
// work-group has a warp's width of them.

#include "operators/program/kernels/program_bundle.hpp"

namespace kw {

/// Groups with rows, in languages with shared memory and warps.
[[nodiscard]] bool rows_take(const GroupContext& context, const StageGroup& group);
[[nodiscard]] GroupKernels rows_kernels(const GroupContext& context, const StageGroup& group);

}  // namespace kw
