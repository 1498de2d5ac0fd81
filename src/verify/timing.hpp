#pragma once
// Interleaved timing of two contenders, each in its own process, on fresh data with cold caches. Every timed launch is
// checked. Reasons for the rule: docs/measuring.md.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "measure/measure.hpp"
#include "verify/case_runner.hpp"
#include "verify/session.hpp"

namespace kw {

/// A timed launch that failed, and whose: only the candidate's failure is the candidate's fault.
struct TimingFailure {
  CaseFailure failure;
  std::size_t case_index = 0;
  bool candidate_at_fault = true;
};

struct TimingResult {
  std::vector<double> candidate_ns;  ///< undisturbed samples, in the order taken
  std::vector<double> observed_ns;   ///< the same launches of the candidate by the host's own clock
  double other_request_ns = 0;       ///< largest time the other's requests took beyond its launches: the machine's load
  std::vector<double> other_ns;
  Versus versus;
  bool stopped_early = false;
};

/// One pair, in the order the comparison asks for, on one data set; a disturbed pair counts in the comparison only.
[[nodiscard]] tl::expected<void, TimingFailure> time_pair(Session& session, Contender& candidate, Contender& other,
                                                          PairedComparison& comparison, TimingResult& result);

/// Pairs until the rule decides.
[[nodiscard]] tl::expected<TimingResult, TimingFailure> compare_interleaved(Session& session, Contender& candidate,
                                                                            Contender& other,
                                                                            const ComparisonRule& rule,
                                                                            const std::string& other_name);

/// `samples` cold launches of one contender alone.
[[nodiscard]] tl::expected<TimingResult, TimingFailure> time_alone(Session& session, Contender& contender, int samples);

/// Median and 95 % interval of the samples; no comparison filled in.
[[nodiscard]] Measurement summarise(const std::vector<double>& samples_ns, Rng& rng);

}  // namespace kw
