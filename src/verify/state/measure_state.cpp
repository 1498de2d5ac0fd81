#include "verify/state/measure_state.hpp"

#include <algorithm>

#include "record/peak_times.hpp"

namespace kw {
namespace {

/// A launch may take this many times as long as the baseline before it is killed.
constexpr double k_longest_launch = 3.0;

}  // namespace

Duration Baseline::launch_deadline(const VerifyDeadlines& deadlines) const {
  if (time.median_ns <= 0) return deadlines.first_launch;
  const auto longest = Duration(static_cast<std::int64_t>(k_longest_launch * time.median_ns));
  return std::max(deadlines.launch_floor, longest);
}

void Baseline::learn_request(const LaunchOutcome& outcome) {
  const auto beyond = static_cast<double>(outcome.observed_ns - outcome.claimed_ns);
  least_request_ns = std::min(least_request_ns.value_or(beyond), beyond);
}

std::optional<Duration> Baseline::answering_takes() const {
  if (!(reference ? *reference : loaded).process) return std::nullopt;
  if (reference) return reference_takes;
  if (time.median_ns > 0) return from_seconds(1e-9 * (time.median_ns + request_ns));
  return primaries.empty() ? std::nullopt : std::optional(Duration(primaries.back().observed_ns));
}

bool TenthOfTime::has_time(const RunFacts& facts, Duration expected) const {
  constexpr int k_part = 10;
  return (used + expected) * k_part <= facts.clock.now() - facts.opened;
}

Duration profiling_time(const LaunchPlan& plan, double launch_ns) {
  // Nsight Compute on an H100: two to four seconds for small kernels, 19 s for one of 84 ms with 2.1 GB. On H200s 35
  // and 42 s for networks of 104 and 127 launches, which it counts one after the other.
  constexpr double k_start_ns = 3e9, k_ns_per_launch = 1e9 / 3, k_ns_per_byte = 6.0, k_launches = 40.0;
  double bytes = 0;
  for (const auto& buffer : plan.buffers) bytes += static_cast<double>(buffer.bytes);
  const double others = std::max(0.0, static_cast<double>(plan.launches.size()) - 1);
  return Duration(static_cast<std::int64_t>(k_start_ns + k_ns_per_launch * others + k_ns_per_byte * bytes +
                                            k_launches * launch_ns));
}

bool ProfilerShare::has_time(const RunFacts& facts, const LaunchPlan& plan, double launch_ns) const {
  // A search comes to its first best without waiting for counters. Whoever asks about one kernel wants them.
  return time.has_time(facts, facts.options.screen ? profiling_time(plan, launch_ns) : Duration{});
}

std::optional<double> MeasureState::roofline_ns(const RunFacts& facts) const {
  const auto times = peak_times(device, facts.problem, facts.costs().primary());
  return times ? std::optional(times->bound_ns()) : std::nullopt;
}

bool MeasureState::would_be_best(const Measurement& measurement) const {
  if (!becomes_best(measurement)) return false;
  return measurement.versus.empty() || measurement.versus.front().speedup > proved_speedup;
}

void MeasureState::note_proved(const Measurement& measurement) {
  if (measurement.versus.empty() || !becomes_best(measurement)) return;
  proved_speedup = std::max(proved_speedup, measurement.versus.front().speedup);
}

bool becomes_best(const Measurement& measurement) {
  return measurement.versus.empty() || measurement.versus.front().decision == Comparison::faster;
}

}  // namespace kw
