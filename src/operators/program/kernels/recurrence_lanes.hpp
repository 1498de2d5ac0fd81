#pragma once
// Recurrences on CPUs: a work-item does all steps of a sequence, with sixteen lanes along the sums and the features.

#include "operators/program/kernels/program_bundle.hpp"

namespace kw {

/// Of the stages of a recurrence, in a dialect with vectors.
[[nodiscard]] GroupKernels lane_recurrence_kernels(const GroupContext& context, const StageGroup& group);

}  // namespace kw
