#pragma once
// The family of windows, for GPUs: pooling, depthwise convolutions and small ones. A work-group has a stretch of some
// lines of the output. Small windows are reduced as tiles of a work-item; see window_tiles.hpp. Elsewhere, where an
// element of the window is the same for all outputs that it is in, as in pooling, each column of the stretch is reduced
// once, with neighbouring work-items at neighbouring columns, into shared memory, and an output reduces the columns of
// its window; what is left visits its window alone.

#include "operators/program/kernels/program_bundle.hpp"

namespace kw {

/// Whether the stage reduces a small window whose place follows from the output's, in a language with shared memory and
/// warps.
[[nodiscard]] bool is_window(const Stage& stage, Dialect dialect);
[[nodiscard]] bool windows_take(const GroupContext& context, const StageGroup& group);
[[nodiscard]] GroupKernels windows_kernels(const GroupContext& context, const StageGroup& group);

}  // namespace kw
