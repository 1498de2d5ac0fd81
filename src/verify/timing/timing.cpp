#include "verify/timing/timing.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <utility>

#include "record/time_use.hpp"
#include "verify/checking/fresh_data.hpp"
#include "verify/checking/plain_answers.hpp"
#include "verify/timing/disturbance.hpp"

namespace kw {
namespace {

constexpr double k_confidence = 0.95;
constexpr int k_resamples = 2000;
/// Of data for one launch or pair, until some tell something of a kernel; the last are taken as they are.
constexpr int k_most_draws = 4;

/// Of the candidate; the pair or the launch was not disturbed.
void keep(const TimingContext& timing, const LaunchOutcome& outcome, TimingResult& result) {
  result.candidate_ns.push_back(launch_ns(timing.facts, timing.baseline, outcome));
  result.claimed_ns.push_back(static_cast<double>(outcome.claimed_ns));
  result.observed_ns.push_back(static_cast<double>(outcome.observed_ns));
}

HostBytes needed_by(const LoadedCandidate& candidate) {
  return candidate.process->fills_buffers() ? HostBytes::when_asked_for : HostBytes::now;
}

CaseMode timed_mode(TimedData& data, const StepTimeout& timeout) {
  return {true, k_nan_poison, timeout.time, timeout.ends_budget, nullptr, data.fresh.answers, &data.outputs};
}

/// Has the plain kernel answer, or who answers in its place; false where that one does not.
bool answer_by_plain(const TimingContext& timing, TimedData& data) {
  const RunFacts& facts = timing.facts;
  const StepTimeout timeout = timing.clock.timeout(timing.baseline.launch_deadline(facts.options.deadlines));
  CaseMode mode = timed_mode(data, timeout);
  mode.cold = false;
  mode.memory = &data.plain;
  auto run = run_plan(facts.problem, timing.baseline.answering(), data.fresh.one.workload, data.inputs, mode,
                      timing.clock, facts.options.parallel);
  if (!run) return false;
  const auto judging = timing.clock.doing(time_activity::judging);
  take_answers(facts.problem, run->outputs, data.fresh);
  data.plain = std::move(run->outputs);
  return true;
}

/// Data whose answer is known: the oracle's, where the plain kernel was to answer and has not.
void complete(const TimingContext& timing, const DataNeed& need, TimedData& data) {
  if (data.fresh.answerer == Answerer::oracle || answer_by_plain(timing, data)) return;
  Rng others = data.others;
  data = draw_timed_data(timing.facts, need, Answerer::oracle, others, std::move(data), timing.clock.ledger());
}

/// Calls `launch` with data, and again with others where a launch has found that these tell nothing.
void use_fresh_data(const TimingContext& timing, const LoadedCandidate& candidate,
                    const std::function<void(TimedData&)>& launch) {
  const DataNeed need{needed_by(candidate), timing.least_rows};
  TimedData data =
      timing.data.take(timing.facts, need, timing.baseline.answering_takes(), timing.rng, timing.clock.ledger());
  complete(timing, need, data);
  launch(data);
  for (int draws = 1; !data.fresh.one.tells && draws < k_most_draws; ++draws) {
    Rng others = data.others;
    const Answerer answerer = data.fresh.answerer;
    data = draw_timed_data(timing.facts, need, answerer, others, std::move(data), timing.clock.ledger());
    complete(timing, need, data);
    launch(data);
  }
  timing.data.give_back(std::move(data));
}

/// What is wrong with the outputs. It stands only where the oracle says so too, and where the data tell something of a
/// kernel.
std::optional<CaseFailure> judge_timed(const TimingContext& timing, TimedData& data, const CaseRun& run,
                                       const Poison& poison) {
  const RunFacts& facts = timing.facts;
  const std::span<const CheckCase> alike = facts.suite.timing_cases();
  const ParallelFor& parallel = facts.options.parallel;
  const auto judge = [&] { return judge_fresh(facts.problem, alike, data.fresh, run, poison, parallel); };
  auto failure = judge();
  if (!failure) return failure;
  const bool may_be_plain = data.fresh.answerer == Answerer::plain && failure->reason == Reason::wrong_result;
  if (may_be_plain && is_right_after_all(facts.problem, alike, data.fresh, run.outputs, data.plain, parallel)) {
    return std::nullopt;
  }
  if (data.fresh.is_asked) return failure;
  if (data.fresh.answerer == Answerer::plain) draw_again(facts.problem, alike.front(), data.fresh, parallel);
  ask_conditioning(facts.problem, data.fresh);
  return data.fresh.one.tells ? judge() : std::move(failure);
}

/// One cold launch, timed and checked.
tl::expected<LaunchOutcome, CaseFailure> timed_launch(const TimingContext& timing, LoadedCandidate& candidate,
                                                      TimedData& data) {
  const RunFacts& facts = timing.facts;
  const StepTimeout timeout = timing.clock.timeout(timing.baseline.launch_deadline(facts.options.deadlines));
  const CaseMode mode = timed_mode(data, timeout);
  auto run = run_plan(facts.problem, candidate, data.fresh.one.workload, data.inputs, mode, timing.clock,
                      facts.options.parallel);
  if (!run) return tl::unexpected(std::move(run).error());
  const auto judging = timing.clock.doing(time_activity::judging);
  if (auto failure = judge_timed(timing, data, *run, mode.poison)) {
    failure->reason = Reason::wrong_when_timed;
    failure->sentence = "right when checked, but in a timed launch " + failure->sentence;
    return tl::unexpected(*std::move(failure));
  }
  data.outputs = std::move(run->outputs);
  if (run->time.claimed_ns <= 0 || run->time.claimed_ns > run->time.observed_ns) {
    return tl::unexpected(
        CaseFailure{Reason::clock_mismatch, "the claimed time does not fit the host's clock",
                    fmt::format("claimed {} ns, the host saw {} ns", run->time.claimed_ns, run->time.observed_ns)});
  }
  return run->time;
}

/// Whether a host that loses its processors changes what these launches took: not on a GPU that had them all in its
/// queue, by whose clock they are timed. A process of this machine's own processor may claim what it likes.
bool depends_on_host(const RunFacts& facts, const LaunchOutcome& one, const LaunchOutcome& other) {
  return facts.device().kind != DeviceKind::gpu || !one.queued_ahead || !other.queued_ahead;
}

/// One pair on these data; a disturbed pair counts in the comparison only.
tl::expected<void, TimingFailure> time_pair_on(const TimingContext& timing, TimedData& data, LoadedCandidate& candidate,
                                               LoadedCandidate& other, PairedComparison& comparison,
                                               TimingResult& result) {
  const bool candidate_first = comparison.this_first();
  const DisturbanceWatch watch(timing.facts.clock);
  LaunchOutcome candidate_time;
  LaunchOutcome other_time;
  for (const bool first_half : {true, false}) {
    const bool is_candidate = candidate_first == first_half;
    auto time = timed_launch(timing, is_candidate ? candidate : other, data);
    if (!time) return tl::unexpected(TimingFailure{std::move(time).error(), data.like, is_candidate});
    (is_candidate ? candidate_time : other_time) = *time;
  }
  result.other_request_ns =
      std::max(result.other_request_ns, static_cast<double>(other_time.observed_ns - other_time.claimed_ns));
  const bool disturbed = depends_on_host(timing.facts, candidate_time, other_time) && watch.disturbed();
  const auto deciding = timing.clock.doing(time_activity::statistics);
  const double other_ns = launch_ns(timing.facts, timing.baseline, other_time);
  comparison.add({launch_ns(timing.facts, timing.baseline, candidate_time), other_ns, disturbed});
  if (!disturbed) {
    keep(timing, candidate_time, result);
    result.other_ns.push_back(other_ns);
  }
  return {};
}

}  // namespace

double launch_ns(const RunFacts& facts, const Baseline& baseline, const LaunchOutcome& outcome) {
  if (facts.device().kind != DeviceKind::cpu) return static_cast<double>(outcome.claimed_ns);
  return std::max(1.0, static_cast<double>(outcome.observed_ns) - baseline.least_request_ns.value_or(0));
}

tl::expected<void, TimingFailure> time_pair(const TimingContext& timing, LoadedCandidate& candidate,
                                            LoadedCandidate& other, PairedComparison& comparison,
                                            TimingResult& result) {
  tl::expected<void, TimingFailure> pair;
  use_fresh_data(timing, candidate,
                 [&](TimedData& drawn) { pair = time_pair_on(timing, drawn, candidate, other, comparison, result); });
  return pair;
}

tl::expected<TimingResult, TimingFailure> compare_interleaved(const TimingContext& timing, LoadedCandidate& candidate,
                                                              LoadedCandidate& other, const ComparisonRule& rule,
                                                              const std::string& other_name) {
  PairedComparison comparison(rule, timing.rng.next());
  TimingResult result;
  while (!comparison.decided() && !timing.clock.out_of_time()) {
    if (auto pair = time_pair(timing, candidate, other, comparison, result); !pair) {
      return tl::unexpected(std::move(pair).error());
    }
  }
  comparison.finish();
  result.versus = comparison.result();
  result.versus.name = other_name;
  result.stopped_early = comparison.stopped_early();
  return result;
}

tl::expected<TimingResult, TimingFailure> time_alone(const TimingContext& timing, LoadedCandidate& candidate,
                                                     int samples) {
  TimingResult result;
  for (int i = 0; i < samples && !timing.clock.out_of_time(); ++i) {
    tl::expected<LaunchOutcome, CaseFailure> time;
    std::size_t like = 0;
    use_fresh_data(timing, candidate, [&](TimedData& drawn) {
      like = drawn.like;
      time = timed_launch(timing, candidate, drawn);
    });
    if (!time) return tl::unexpected(TimingFailure{std::move(time).error(), like, true});
    keep(timing, *time, result);
  }
  return result;
}

SoloSamples solo_samples(const LaunchPlan& plan) {
  constexpr std::int64_t k_long_to_draw = std::int64_t{64} << 20;
  constexpr SoloSamples k_usual{10, k_least_rows}, k_few{4, 80};
  static_assert(k_usual.launches * k_usual.least_rows == k_few.launches * k_few.least_rows);
  std::int64_t bytes = 0;
  for (const PlannedBuffer& buffer : plan.buffers) bytes += buffer.role == BufferRole::input ? buffer.bytes : 0;
  return bytes > k_long_to_draw ? k_few : k_usual;
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
