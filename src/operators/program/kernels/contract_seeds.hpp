#pragma once
// What the search is told about the contractions of a whole problem.

#include <functional>

#include "codegen/dialect.hpp"
#include "hardware/device_facts.hpp"
#include "operators/program/kernels/program_bundle.hpp"
#include "problem/problem.hpp"
#include "record/bundle.hpp"

namespace kw {

/// PATCHES of kernels in CUDA C++: 0 where patches are estimated to be faster for convolutions, 1 where they can be, 2
/// nowhere; STRIPS the same for strips of columns, DIRECT for direct convolutions, TAILS for reductions in the kernels
/// of contractions, PHASES for phases of transposed convolutions that go through their own taps alone, JOINED
/// for those of a line in one block, STATISTICS for those of norms that the kernels of contractions leave, and SCALED
/// for products of split numbers.
[[nodiscard]] std::vector<Tunable> contract_structure();
[[nodiscard]] ContractWays contract_ways(const IntBindings& structure);

/// Assignments of the contractions' tunables that are worth trying first, best guess first: that of the defaults, which
/// assigns nothing, and the best ones by estimate after it. Of a problem without contractions the defaults alone.
[[nodiscard]] std::vector<IntBindings> contract_seeds(Dialect dialect, const Problem& problem,
                                                      const DeviceFacts& device);

/// Of assignments with this structure, what else `structure` assigns is ignored. Lower is better; 1 for a problem
/// without contractions.
[[nodiscard]] std::function<double(const IntBindings& assignment)> contract_estimator(Dialect dialect,
                                                                                      const Problem& problem,
                                                                                      const DeviceFacts& device,
                                                                                      const IntBindings& structure);

}  // namespace kw
