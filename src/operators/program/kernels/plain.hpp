#pragma once
// A tensor program as a careful programmer writes it first: one straightforward kernel per stage, every intermediate
// result in memory, nothing fused. It is what a run compares its best kernel with, and what always works.

#include "base/result.hpp"
#include "codegen/dialect.hpp"
#include "problem/problem.hpp"
#include "record/bundle.hpp"

namespace kw {

/// One bundle serves every shape of the module: extents that depend on axes are arguments of the kernels.
[[nodiscard]] Result<Bundle> emit_program_plain(Dialect dialect, const Problem& problem);

}  // namespace kw
