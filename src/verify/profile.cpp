#include "verify/profile.hpp"

#include <utility>

namespace kw {

void fill_profile(const Session& session, Measurement& measurement) {
  if (measurement.median_ns <= 0) return;
  measurement.gflops = session.cost.flops / measurement.median_ns;
  if (const auto bound = session.roofline_ns()) measurement.roofline_fraction = *bound / measurement.median_ns;
}

std::optional<std::string> count_in_hardware(Session& session, const Contender& contender, Measurement& measurement) {
  if (session.options.tools.profiler == nullptr) return std::nullopt;
  const Instant began = session.clock.now();
  auto counted = session.options.tools.profiler->profile(session, contender);
  session.profiling += session.clock.now() - began;
  if (auto* counters = std::get_if<HardwareCounters>(&counted)) {
    measurement.counters = std::move(*counters);
    return std::nullopt;
  }
  session.options.tools.profiler = nullptr;
  return std::get<std::string>(std::move(counted));
}

}  // namespace kw
