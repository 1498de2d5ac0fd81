#pragma once
// The slow, obvious answer of a problem's operator, in double precision on the host.

#include "base/parallel.hpp"
#include "base/result.hpp"
#include "problem/problem.hpp"
#include "problem/values.hpp"

namespace kw {

/// `inputs` in the order of Problem::inputs and as large as the axes say.
[[nodiscard]] Result<OutputValues> evaluate_oracle(const Problem& problem, const Workload& workload,
                                                   const InputValues& inputs, const ParallelFor& parallel = serial_for);

}  // namespace kw
