#pragma once
// The family of maps and of what works on rows, for CPUs: a work-item does whole rows, or a part of a long row of a
// map, sixteen elements at a time. Where it is neighbouring rows that are contiguous, the lanes are sixteen rows.

#include "operators/program/kernels/program_bundle.hpp"

namespace kw {

/// Groups with rows, and maps with a last axis of at least sixteen, in languages with vectors.
[[nodiscard]] bool lane_rows_take(const GroupContext& context, const StageGroup& group);
[[nodiscard]] GroupKernels lane_rows_kernels(const GroupContext& context, const StageGroup& group);

}  // namespace kw
