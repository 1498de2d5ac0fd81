#pragma once
// The family of windows for CPUs: poolings, and convolutions of each channel by itself. Sixteen neighbours of the
// output's last axis are computed at once wherever all of their windows lie inside; the ones at the edges alone.

#include "operators/program/kernels/program_bundle.hpp"

namespace kw {

/// Reductions over a few elements whose places advance with the output's last axis.
[[nodiscard]] bool lane_windows_take(const GroupContext& context, const StageGroup& group);
[[nodiscard]] GroupKernels lane_windows_kernels(const GroupContext& context, const StageGroup& group);

}  // namespace kw
