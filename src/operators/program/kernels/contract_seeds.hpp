#pragma once
// What the search is told about the contractions of a whole problem.

#include "codegen/dialect.hpp"
#include "hardware/device_facts.hpp"
#include "problem/problem.hpp"
#include "record/bundle.hpp"

namespace kw {

/// Assignments of the contractions' tunables that are worth trying first, best guess first: that of the defaults, which
/// assigns nothing, and the best ones by estimate after it. Of a problem without contractions the defaults alone.
[[nodiscard]] std::vector<IntBindings> contract_seeds(Dialect dialect, const Problem& problem,
                                                      const DeviceFacts& device);

/// Lower is better; 1 for a problem without contractions.
[[nodiscard]] double contract_estimate(Dialect dialect, const Problem& problem, const DeviceFacts& device,
                                       const IntBindings& assignment);

}  // namespace kw
