#pragma once
// What KernelBench's own rule would say, for problems that the verifier refuses to score: five draws of the inputs as
// get_inputs() makes them, and every element of the answer within 1e-4, absolute and relative, of the right one (of
// f32; 1e-2 of types of 16 bits). The kernel is the one that is written without any search; the right answer is the
// oracle's, rounded to the output's type. It is run in the same sandbox as any other.

#include <cstdint>
#include <span>

#include "base/clock.hpp"
#include "base/parallel.hpp"
#include "suite/suite_state.hpp"
#include "verify/processes/execution_backend.hpp"

namespace kw {

struct KernelBenchJudging {
  ExecutionBackend& backend;
  const Clock& clock;
  std::string target;
  std::string style;  ///< empty: the fastest that writes the problem
  ParallelFor parallel = serial_for;
};

/// Never fails: what stands in the way is in KernelBenchVerdict::not_judged.
[[nodiscard]] KernelBenchVerdict judge_by_kernelbench(const Problem& problem, const KernelBenchJudging& judging);

/// torch.allclose(right, given) with both tolerances: NaN is close to nothing, and infinities to themselves.
struct Closeness {
  bool all_close = true;
  double worst_difference = 0;
};
[[nodiscard]] Closeness closeness(std::span<const double> right, std::span<const double> given, double tolerance);

}  // namespace kw
