#pragma once
// How often the final measurement launches kernels in each of its processes: the measurement and whoever keeps time
// back for it have to agree.

#include <cstddef>

namespace kw {

/// Pairs per process with a plain kernel of that time. It is slow and the ratio far from 1, so a few are enough; of one
/// that takes longer than half a second a launch, one.
[[nodiscard]] constexpr std::size_t final_pairs(double plain_ns) {
  constexpr double k_longest_of_many_ns = 5e8;
  constexpr std::size_t k_usual = 4;
  return plain_ns > k_longest_of_many_ns ? 1 : k_usual;
}

/// Launches per process of the best kernel alone: enough for a decision by two launches of the plain kernel. A ratio
/// near 1, which each launch and one of a copy give, scatters by a tenth and more where memory is shared, so there are
/// more of them.
[[nodiscard]] constexpr int final_launches_alone(bool beside_copy) {
  constexpr int k_usual = 12, k_of_ratios = 20;
  return beside_copy ? k_of_ratios : k_usual;
}

}  // namespace kw
