#pragma once
// Recurrences on GPUs, a launch for each step: the whole device shares the products of a step, and the next launch sees
// its states. One launch for all steps would leave a sequence to one unit, which reads all weights again for each step.

#include "operators/program/kernels/program_bundle.hpp"
#include "operators/program/kernels/recurrence_shape.hpp"

namespace kw {

[[nodiscard]] GroupKernels step_kernels(const GroupContext& context, const StepShape& shape);

}  // namespace kw
