#pragma once
// Derived figures of a measurement: useful FLOP rate and position under the roofline (Williams, Waterman, Patterson
// 2009: attainable = min(peak FLOP rate, bandwidth * FLOPs per byte), both peaks measured on this device). And what a
// profiler counts.

#include <optional>
#include <string>

#include "verify/processes/step_clock.hpp"
#include "verify/state/measure_state.hpp"

namespace kw {

void fill_profile(const RunFacts& facts, const MeasureState& measuring, Measurement& measurement);

/// Has the profiler count; without one nothing happens. A sentence when it could not, the first time: it is not asked
/// again.
[[nodiscard]] std::optional<std::string> count_in_hardware(const RunFacts& facts, ProfilerShare& share,
                                                           const LoadedCandidate& loaded, StepClock& clock,
                                                           Measurement& measurement);

}  // namespace kw
