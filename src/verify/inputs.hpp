#pragma once
// Input data for checks: several distributions, each set to bite on a class of wrong kernels. Operator-agnostic: a
// distribution sees tensors, "rows" (everything but the innermost axis) and the position along the second-innermost
// axis.

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
};
[[nodiscard]] std::string_view to_string(Distribution distribution);
[[nodiscard]] const std::vector<Distribution>& all_distributions();

/// Values for every input of the problem. Deterministic for the seed, which a run keeps
/// secret from candidates. errc::overflow for a workload that does not fit.
[[nodiscard]] Result<InputValues> make_inputs(const Problem& problem, const Workload& workload,
                                              Distribution distribution, std::uint64_t seed);

}  // namespace kw
