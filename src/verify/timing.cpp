#include "verify/timing.hpp"

#include <algorithm>

#include "verify/disturbance.hpp"
#include "verify/fresh_data.hpp"

namespace kw {
namespace {

constexpr double k_confidence = 0.95;
constexpr int k_resamples = 2000;

/// One cold launch, timed and checked.
tl::expected<LaunchOutcome, CaseFailure> timed_launch(Session& session, Contender& contender, const CheckCase& one) {
  const CaseMode mode{true, k_nan_poison, session.launch_deadline()};
  auto run = run_case(session, contender, one, mode);
  if (!run) return tl::unexpected(std::move(run).error());
  if (auto failure = judge_case(session, one, *run, mode, nullptr)) {
    failure->reason = Reason::wrong_when_timed;
    failure->sentence = "right when checked, but in a timed launch " + failure->sentence;
    return tl::unexpected(*std::move(failure));
  }
  if (run->time.claimed_ns <= 0 || run->time.claimed_ns > run->time.observed_ns) {
    return tl::unexpected(
        CaseFailure{Reason::clock_mismatch, "the claimed time does not fit the host's clock",
                    fmt::format("claimed {} ns, the host saw {} ns", run->time.claimed_ns, run->time.observed_ns)});
  }
  return run->time;
}

std::size_t draw_case(Session& session) {
  return static_cast<std::size_t>(session.rng.below(static_cast<std::int64_t>(k_timing_cases)));
}

}  // namespace

tl::expected<void, TimingFailure> time_pair(Session& session, Contender& candidate, Contender& other,
                                            PairedComparison& comparison, TimingResult& result) {
  const std::size_t case_index = draw_case(session);
  const CheckCase fresh = with_fresh_data(session.problem, session.suite.cases()[case_index], session.rng);
  const bool candidate_first = comparison.this_first();
  const DisturbanceWatch watch(session.clock);
  LaunchOutcome candidate_time;
  LaunchOutcome other_time;
  for (const bool first_half : {true, false}) {
    const bool is_candidate = candidate_first == first_half;
    auto time = timed_launch(session, is_candidate ? candidate : other, fresh);
    if (!time) return tl::unexpected(TimingFailure{std::move(time).error(), case_index, is_candidate});
    (is_candidate ? candidate_time : other_time) = *time;
  }
  result.other_request_ns =
      std::max(result.other_request_ns, static_cast<double>(other_time.observed_ns - other_time.claimed_ns));
  const bool disturbed = watch.disturbed();
  const TimedPair pair{static_cast<double>(candidate_time.claimed_ns), static_cast<double>(other_time.claimed_ns),
                       disturbed};
  comparison.add(pair);
  if (!disturbed) {
    result.candidate_ns.push_back(pair.this_ns);
    result.other_ns.push_back(pair.other_ns);
    result.observed_ns.push_back(static_cast<double>(candidate_time.observed_ns));
  }
  return {};
}

tl::expected<TimingResult, TimingFailure> compare_interleaved(Session& session, Contender& candidate, Contender& other,
                                                              const ComparisonRule& rule,
                                                              const std::string& other_name) {
  PairedComparison comparison(rule, session.rng.next());
  TimingResult result;
  while (!comparison.decided()) {
    if (auto pair = time_pair(session, candidate, other, comparison, result); !pair) {
      return tl::unexpected(std::move(pair).error());
    }
  }
  result.versus = comparison.result();
  result.versus.name = other_name;
  result.stopped_early = comparison.stopped_early();
  return result;
}

tl::expected<TimingResult, TimingFailure> time_alone(Session& session, Contender& contender, int samples) {
  TimingResult result;
  for (int i = 0; i < samples; ++i) {
    const std::size_t case_index = draw_case(session);
    const CheckCase fresh = with_fresh_data(session.problem, session.suite.cases()[case_index], session.rng);
    auto time = timed_launch(session, contender, fresh);
    if (!time) return tl::unexpected(TimingFailure{std::move(time).error(), case_index, true});
    result.candidate_ns.push_back(static_cast<double>(time->claimed_ns));
    result.observed_ns.push_back(static_cast<double>(time->observed_ns));
  }
  return result;
}

Measurement summarise(const std::vector<double>& samples_ns, Rng& rng) {
  Measurement measurement;
  measurement.samples = static_cast<std::int64_t>(samples_ns.size());
  if (samples_ns.empty()) return measurement;
  measurement.median_ns = median(samples_ns);
  measurement.ci_ns = bootstrap_median(samples_ns, k_confidence, k_resamples, rng);
  return measurement;
}

}  // namespace kw
