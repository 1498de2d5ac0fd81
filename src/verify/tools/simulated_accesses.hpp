#pragma once
// What a kernel asks of memory, counted by the simulator: the candidate is built once more, with counting, and launched
// on the primary workload or the first groups of it. Costs a build and a launch, so the profile gate asks only where
// somebody reads it (VerifierOptions::count_accesses). Rejects nothing.

#include <string>
#include <tl/expected.hpp>

#include "record/access_counts.hpp"
#include "verify/processes/loaded_candidate.hpp"
#include "verify/processes/step_clock.hpp"
#include "verify/state/run_facts.hpp"

namespace kw {

/// `simulator` runs the candidate's language. Otherwise a sentence that says why there are no counts. What the
/// simulating process says is bounded here: numbers are not negative, lines at most those of the source, names plain.
[[nodiscard]] tl::expected<SimulatedAccesses, std::string> count_accesses(const RunFacts& facts,
                                                                          ExecutionBackend& simulator,
                                                                          const LoadedCandidate& loaded,
                                                                          StepClock& clock);

/// The simulator that can count for this verifier: the device itself, or the one that sanitizes for a GPU. Null where
/// there is none.
[[nodiscard]] ExecutionBackend* counting_simulator(const RunFacts& facts);

}  // namespace kw
