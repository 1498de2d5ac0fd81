#pragma once
// The family of running reductions, for GPUs: a work-group does a row in one read and one write. It takes a stretch of
// the row into shared memory, each work-item runs over a few neighbouring elements of it, and what came before is added
// from the totals of the work-items before it and of the stretches before.

#include "operators/program/kernels/program_bundle.hpp"

namespace kw {

/// Whether the family takes the stage; it then stores elements at Stage::place.
[[nodiscard]] bool is_row_scan(const Stage& stage, Dialect dialect);
/// Where such a stage's results are only read in reverse order, as those of a sum from the end are, they are stored so.
void reverse_scans(StageProgram& program, Dialect dialect);
/// Where its results are only read some places further, behind neutral elements, as those of an exclusive sum are, it
/// runs over elements that begin so.
void shift_scans(StageProgram& program, Dialect dialect);
/// A running sum, product, maximum or minimum of reals, in languages with shared memory and warps.
[[nodiscard]] bool scans_take(const GroupContext& context, const StageGroup& group);
[[nodiscard]] GroupKernels scans_kernels(const GroupContext& context, const StageGroup& group);

}  // namespace kw
