#pragma once
// From a problem's tensors to the oracle of programs and back.

#include "problem/operator_checks.hpp"
#include "problem/problem.hpp"
#include "problem/values.hpp"

namespace kw {

/// Gives all operands, also those that are drawn freely, what get_inputs() and __init__ give them.
void draw_given_operands(const Problem& problem, const Workload& workload, InputValues& operands, Rng& rng);

/// A distribution's shape(), as in OwnDistribution.
using ShapeOperands = void (*)(const Problem& problem, const Workload& workload, const CaptureData& captures,
                               InputValues& operands, Rng& rng);
/// Whether the module gives numbers of such operands that f32 can tell: finite on the way and at the end, and no output
/// that is nothing but what cancelled, or that roundings of the operands change. Drawn once from a fixed seed; for
/// small workloads.
[[nodiscard]] bool is_answered(const Problem& problem, const Workload& workload, ShapeOperands shape);

}  // namespace kw
