#pragma once
// A tensor program as a careful programmer writes it first: one straightforward kernel per stage, every intermediate
// result in memory, nothing fused. It is what a run compares its best kernel with, and what always works.

#include "base/result.hpp"
#include "codegen/dialect.hpp"
#include "operators/program/kernels/program_bundle.hpp"
#include "problem/problem.hpp"
#include "record/bundle.hpp"

namespace kw {

/// One bundle serves every shape of the module: extents that depend on axes are arguments of the kernels.
[[nodiscard]] Result<Bundle> emit_program_plain(Dialect dialect, const Problem& problem);

/// The kernel of a group of one stage: what every family falls back to.
[[nodiscard]] GroupKernels plain_kernels(const GroupContext& context, const StageGroup& group);

}  // namespace kw
