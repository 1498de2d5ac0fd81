#pragma once
// The ways in which the host computes a program, against each other: the oracle whole, the oracle on demand, and an
// interpreter of the stages that kernels are written from. Nothing here is rounded to f32.

#include <string>

#include "problem/problem.hpp"
#include "problem/values.hpp"

namespace kw {

/// What the oracle says differently of some elements that `seed` chooses; empty where it agrees with itself.
[[nodiscard]] std::string difference_on_demand(const Problem& problem, const Workload& workload,
                                               const InputValues& inputs, std::uint64_t seed);
/// What the stages say differently; empty where they agree with the oracle.
[[nodiscard]] std::string difference_of_stages(const Problem& problem, const Workload& workload,
                                               const InputValues& inputs);

/// What the simplified graph says differently; empty where they agree.
[[nodiscard]] std::string difference_of_simplified(const Problem& problem, const Workload& workload,
                                                   const InputValues& inputs);

}  // namespace kw
