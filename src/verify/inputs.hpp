#pragma once
// Input data for checks: several distributions, each set to bite on a class of wrong kernels. Operator-agnostic: a
// distribution sees tensors, "rows" (everything but the innermost axis) and the position along the second-innermost
// axis. Captured tensors are drawn by the rules of the problem file, whatever the distribution.

#include <cstdint>
#include <string_view>
#include <vector>

#include "oracle/oracle.hpp"
#include "spec/problem.hpp"

namespace kw {

/// Stored in archives by name.
enum class Distribution : std::uint8_t {
  normal,   ///< standard normal: the everyday case
  uniform,  ///< [0, 1): every softmax row is flat, so dropped keys and lost tails show
  spikes,   ///< normal with 1 row in 32 scaled by 6: maxima move late, rescaling bugs and overflow show
  late,     ///< normal whose magnitude grows from 1/4 to 4 along the sequence: kernels that read only early keys fail
  offset,   ///< normal about a direction that all rows share, opposite in the second half of the first tensor: products
            ///< of rows are near +120 and -120, where exp() overflows or every weight vanishes
  level,    ///< normal, but keys that the problem's own function favours get smaller scores, by as much: all keys count
};
[[nodiscard]] std::string_view to_string(Distribution distribution);
[[nodiscard]] const std::vector<Distribution>& all_distributions();
/// Those that tell more about this workload than normal data does.
[[nodiscard]] Result<std::vector<Distribution>> distributions_for(const Problem& problem, const Workload& workload);

/// What the data of one case are drawn from; a run keeps both secret from candidates.
struct InputSeeds {
  std::uint64_t operands = 0;
  std::uint64_t captures = k_nominal_seed;
};

/// Values for every input of the problem, as its type can hold them. Deterministic for the seeds. errc::overflow for a
/// workload that does not fit, errc::capture_values for captured tensors that cannot be drawn.
[[nodiscard]] Result<InputValues> make_inputs(const Problem& problem, const Workload& workload,
                                              Distribution distribution, InputSeeds seeds);
[[nodiscard]] inline Result<InputValues> make_inputs(const Problem& problem, const Workload& workload,
                                                     Distribution distribution, std::uint64_t seed) {
  return make_inputs(problem, workload, distribution, InputSeeds{seed});
}

}  // namespace kw
