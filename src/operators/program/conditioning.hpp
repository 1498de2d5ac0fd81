#pragma once
// Which data say something of a kernel. A result that hangs on roundings of f32 does not: honest kernels round
// differently. It is the parameters that decide where a normalisation or a saturated function has nothing left to say,
// and they are drawn anew for every case.

#include <limits>
#include <optional>

#include "problem/operator_checks.hpp"
#include "problem/problem.hpp"
#include "problem/values.hpp"

namespace kw {

/// Of workloads that are asked about once, as a problem is read.
inline constexpr double k_most_steps_asked = 1e7;

/// As in OperatorChecks: nothing where a number on the way is beyond its type, or a real output is nothing but what
/// cancelled, or operands and intermediate results that move by roundings change it by two thousandths of a row. Where
/// the problem allows factors to be rounded to tf32, they are, and change it by a twentieth at most.
[[nodiscard]] std::optional<double> conditioning_of(const Problem& problem, const Workload& workload,
                                                    const InputValues& operands,
                                                    double most_steps = std::numeric_limits<double>::infinity());

/// A distribution's shape(), as in OwnDistribution.
using ShapeOperands = void (*)(const Problem& problem, const Workload& workload, const CaptureData& captures,
                               InputValues& operands, Rng& rng, const ParallelFor& parallel);
/// Whether one draw from a fixed seed, of this shape, tells something; also of large workloads.
[[nodiscard]] bool is_answered(const Problem& problem, const Workload& workload, ShapeOperands shape);

/// Whether every output is another one when forward() is given other inputs, its parameters staying as they are; seen
/// on one draw. A normalisation over single elements gives its bias whatever it is given.
[[nodiscard]] bool depends_on_inputs(const Problem& problem, const Workload& workload);

}  // namespace kw
