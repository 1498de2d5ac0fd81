#pragma once
// Interleaved timing of two candidates, each in its own process, on fresh data with cold caches. Every timed launch is
// checked. Reasons for the rule: docs/measuring.md.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "measure/measure.hpp"
#include "verify/checking/case_runner.hpp"
#include "verify/checking/sampled_rows.hpp"
#include "verify/state/data_ahead.hpp"
#include "verify/state/measure_state.hpp"
#include "verify/state/run_facts.hpp"

namespace kw {

/// What timed launches need besides the kernels.
struct TimingContext {
  const RunFacts& facts;
  Baseline& baseline;  ///< its time says how long a launch may take, and it may answer in the oracle's place
  StepClock& clock;
  Rng& rng;
  DataAhead& data;
  std::int64_t least_rows = k_least_rows;  ///< that the oracle answers of each launch
};

/// A timed launch that failed, and whose: only the candidate's failure is the candidate's fault.
struct TimingFailure {
  CaseFailure failure;
  std::size_t case_index = 0;
  bool candidate_at_fault = true;
};

struct TimingResult {
  std::vector<double> candidate_ns;  ///< undisturbed samples (launch_ns), in the order taken
  std::vector<double> claimed_ns;    ///< the same launches of the candidate as its process says
  std::vector<double> observed_ns;   ///< and by the host's own clock, requests included
  double other_request_ns = 0;       ///< largest time the other's requests took beyond its launches: the machine's load
  std::vector<double> other_ns;
  Versus versus;
  bool stopped_early = false;
};

/// The time of a launch, in nanoseconds. A GPU's is between two events on the device, which the host reads through the
/// process. On a CPU the kernel shares its process with whatever reads a clock there, so the host's own clock counts,
/// less the least that a request to a trusted process has cost.
[[nodiscard]] double launch_ns(const RunFacts& facts, const Baseline& baseline, const LaunchOutcome& outcome);

/// One pair, in the order the comparison asks for, on one data set; a disturbed pair counts in the comparison only.
[[nodiscard]] tl::expected<void, TimingFailure> time_pair(const TimingContext& timing, LoadedCandidate& candidate,
                                                          LoadedCandidate& other, PairedComparison& comparison,
                                                          TimingResult& result);

/// Pairs until the rule decides, or the clock's deadline has passed: then clock.deadline_hit() says so.
[[nodiscard]] tl::expected<TimingResult, TimingFailure> compare_interleaved(const TimingContext& timing,
                                                                            LoadedCandidate& candidate,
                                                                            LoadedCandidate& other,
                                                                            const ComparisonRule& rule,
                                                                            const std::string& other_name);

/// `samples` cold launches of one candidate alone, or as many as end before the clock's deadline.
[[nodiscard]] tl::expected<TimingResult, TimingFailure> time_alone(const TimingContext& timing,
                                                                   LoadedCandidate& candidate, int samples);

/// How often a candidate is launched that is timed alone, and the rows that the oracle answers of each launch.
struct SoloSamples {
  int launches = 0;
  std::int64_t least_rows = 0;  ///< for TimingContext
};
/// Where the data of a launch take long to draw, fewer launches with more rows: what is left out in a share s of the
/// rows is found by n rows in all with the same probability 1 - (1 - s)^n.
[[nodiscard]] SoloSamples solo_samples(const LaunchPlan& plan);

/// Median and 95 % interval of the samples; no comparison filled in.
[[nodiscard]] Measurement summarise(const std::vector<double>& samples_ns, Rng& rng);

}  // namespace kw
