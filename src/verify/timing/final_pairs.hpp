#pragma once
// How often the final measurement launches the plain kernel in each of its processes: the measurement and whoever keeps
// time back for it have to agree.

#include <cstddef>

namespace kw {

/// Pairs per process with a plain kernel of that time. It is slow and the ratio far from 1, so a few are enough; of one
/// that takes longer than half a second a launch, one.
[[nodiscard]] constexpr std::size_t final_pairs(double plain_ns) {
  constexpr double k_longest_of_many_ns = 5e8;
  constexpr std::size_t k_usual = 4;
  return plain_ns > k_longest_of_many_ns ? 1 : k_usual;
}

}  // namespace kw
