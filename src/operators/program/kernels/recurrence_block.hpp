#pragma once
// Recurrences on GPUs whose weights fit into the registers of a work-group: one launch for all steps, a work-group for
// a few sequences.

#include <optional>

#include "operators/program/kernels/program_bundle.hpp"
#include "operators/program/kernels/recurrence_shape.hpp"

namespace kw {

/// Nothing where weights or states are of another kind, or too many.
[[nodiscard]] std::optional<GroupKernels> block_recurrence_kernels(const GroupContext& context, const StepShape& shape);

}  // namespace kw
