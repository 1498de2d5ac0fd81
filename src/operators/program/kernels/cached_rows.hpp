#pragma once
// The family of long rows for CUDA C++ that are reduced and then mapped: a row that no block has room for, and that the
// second cache has room for. One kernel reads memory once, see kernels/program/cached_rows.cu.

#include "operators/program/kernels/program_bundle.hpp"

namespace kw {

/// Whether a reduction of a row, or a pair of row_pairs.hpp, and one map of it are the whole group; its rows are too
/// long for a block's memory, and short enough for parts of the second cache. The reductions' columns are one axis.
[[nodiscard]] bool are_cached_rows(const GroupContext& context, const StageGroup& group);
/// Whether a row of so many elements is one.
[[nodiscard]] bool is_cached_row(double elements, const DeviceFacts& device);

[[nodiscard]] GroupKernels cached_rows_kernels(const GroupContext& context, const StageGroup& group);

}  // namespace kw
