#pragma once
// The figures that a run ends with: its best kernel and the plain one in turn, in new processes.

#include "base/result.hpp"
#include "verify/state/measure_state.hpp"
#include "verify/state/run_facts.hpp"
#include "verify/verifier.hpp"

namespace kw {

/// Of the champion in `measuring`, in up to `processes` pairs of processes, at least one; others begin while
/// `has_time`. The plain kernel's time becomes what is measured here. errc::disturbed where no pair was undisturbed,
/// errc::worker_failed where a process or a time cannot be relied on.
[[nodiscard]] Result<Measurement> measure_champion(const RunFacts& facts, MeasureState& measuring, int processes,
                                                   const HasTime& has_time, StepClock& clock);

}  // namespace kw
