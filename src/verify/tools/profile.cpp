#include "verify/tools/profile.hpp"

#include <utility>

#include "record/time_use.hpp"
#include "verify/tools/profiler.hpp"

namespace kw {

void fill_profile(const RunFacts& facts, const MeasureState& measuring, Measurement& measurement) {
  if (measurement.median_ns <= 0) return;
  measurement.gflops = facts.costs().primary().flops / measurement.median_ns;
  if (const auto bound = measuring.roofline_ns(facts)) measurement.roofline_fraction = *bound / measurement.median_ns;
}

std::optional<std::string> count_in_hardware(const RunFacts& facts, ProfilerShare& share, const LoadedCandidate& loaded,
                                             StepClock& clock, Measurement& measurement) {
  if (share.profiler == nullptr) return std::nullopt;
  const auto counting = clock.doing(time_activity::tool);
  const Instant began = facts.clock.now();
  auto counted = share.profiler->profile(facts, loaded, clock);
  share.time.used += facts.clock.now() - began;
  if (auto* counters = std::get_if<HardwareCounters>(&counted)) {
    measurement.counters = std::move(*counters);
    return std::nullopt;
  }
  share.profiler = nullptr;
  return std::get<std::string>(std::move(counted));
}

}  // namespace kw
