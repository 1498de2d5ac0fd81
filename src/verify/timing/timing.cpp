#include "verify/timing/timing.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "record/time_use.hpp"
#include "verify/checking/fresh_data.hpp"
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

/// What of a launch's data has to be on the host.
enum class HostBytes : std::uint8_t { when_asked_for, now };

HostBytes needed_by(const LoadedCandidate& candidate) {
  return candidate.process->fills_buffers() ? HostBytes::when_asked_for : HostBytes::now;
}

/// In the memory of `used`, of which nothing is needed any more.
TimedData draw_data(const TimingContext& timing, Rng& rng, HostBytes host, TimedData used) {
  const RunFacts& facts = timing.facts;
  const ParallelFor& parallel = facts.options.parallel;
  const auto like = static_cast<std::size_t>(rng.below(static_cast<std::int64_t>(k_timing_cases)));
  FreshCase fresh =
      draw_fresh(facts.problem, facts.suite.cases()[like], facts.costs(), rng, parallel, timing.clock.ledger(),
                 timing.least_rows, std::move(used.fresh.one.inputs), host == HostBytes::when_asked_for);
  const auto storing = timing.clock.doing(time_activity::inputs);
  StoredInputs inputs(facts.problem, fresh.one, std::move(used.inputs));
  for (std::size_t i = 0; host == HostBytes::now && i < fresh.one.inputs.size(); ++i) {
    static_cast<void>(inputs.bytes(i, parallel));
  }
  return {like, std::move(fresh), std::move(inputs), std::move(used.outputs), Rng(rng.next())};
}

/// Data for one launch after the other. On a GPU, whose time does not depend on what the host does, the next are drawn
/// beside a launch.
class DataAhead {
 public:
  DataAhead(const TimingContext& timing, HostBytes host) : timing_(timing), host_(host) {}

  DataAhead(const DataAhead&) = delete;
  DataAhead& operator=(const DataAhead&) = delete;
  ~DataAhead() {
    if (next_) timing_.spare.push_back(*std::move(next_));
  }

  /// Calls `launch` with data, and again with others where a launch has found that these tell nothing. Draws the next
  /// where `goes_on`.
  void use(const std::function<void(TimedData&)>& launch, bool goes_on) {
    auto drawn = std::exchange(next_, std::nullopt);
    TimedData data = drawn ? *std::move(drawn) : draw();
    if (goes_on && timing_.facts.device().kind == DeviceKind::gpu) {
      const auto waiting_for_data = timing_.clock.doing(time_activity::inputs);
      const auto launch_now = [&] {
        const auto launching = timing_.clock.doing(TimeLedger::k_other);
        launch_on_telling(launch, data);
      };
      timing_.facts.options.beside(launch_now, [&] { next_.emplace(draw()); });
    } else {
      launch_on_telling(launch, data);
    }
    timing_.spare.push_back(std::move(data));
  }

 private:
  void launch_on_telling(const std::function<void(TimedData&)>& launch, TimedData& data) const {
    launch(data);
    for (int draws = 1; !data.fresh.one.tells && draws < k_most_draws; ++draws) {
      Rng others = data.others;
      data = draw_data(timing_, others, host_, std::move(data));
      launch(data);
    }
  }

  /// On one thread at a time: while a launch goes on, on that beside it.
  TimedData draw() {
    if (timing_.spare.empty()) return draw_data(timing_, timing_.rng, host_, {});
    TimedData used = std::move(timing_.spare.back());
    timing_.spare.pop_back();
    return draw_data(timing_, timing_.rng, host_, std::move(used));
  }

  const TimingContext& timing_;
  HostBytes host_;
  std::optional<TimedData> next_;
};

/// What is wrong with the outputs. It stands only where the data tell something of a kernel.
std::optional<CaseFailure> judge_timed(const TimingContext& timing, TimedData& data, const CaseRun& run,
                                       const Poison& poison) {
  const RunFacts& facts = timing.facts;
  const auto judge = [&] {
    return judge_fresh(facts.problem, facts.suite.timing_cases(), data.fresh, run, poison, facts.options.parallel);
  };
  auto failure = judge();
  if (!failure || data.fresh.is_asked) return failure;
  ask_conditioning(facts.problem, data.fresh);
  return data.fresh.one.tells ? judge() : std::move(failure);
}

/// One cold launch, timed and checked.
tl::expected<LaunchOutcome, CaseFailure> timed_launch(const TimingContext& timing, LoadedCandidate& candidate,
                                                      TimedData& data) {
  const RunFacts& facts = timing.facts;
  const StepTimeout timeout = timing.clock.timeout(timing.baseline.launch_deadline(facts.options.deadlines));
  const CaseMode mode{true,    k_nan_poison,       timeout.time, timeout.ends_budget,
                      nullptr, data.fresh.answers, &data.outputs};
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
  const bool disturbed = watch.disturbed();
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
  DataAhead(timing, needed_by(candidate))
      .use([&](TimedData& drawn) { pair = time_pair_on(timing, drawn, candidate, other, comparison, result); }, false);
  return pair;
}

tl::expected<TimingResult, TimingFailure> compare_interleaved(const TimingContext& timing, LoadedCandidate& candidate,
                                                              LoadedCandidate& other, const ComparisonRule& rule,
                                                              const std::string& other_name) {
  PairedComparison comparison(rule, timing.rng.next());
  TimingResult result;
  DataAhead data(timing, needed_by(candidate));
  while (!comparison.decided() && !timing.clock.out_of_time()) {
    tl::expected<void, TimingFailure> pair;
    data.use([&](TimedData& drawn) { pair = time_pair_on(timing, drawn, candidate, other, comparison, result); }, true);
    if (!pair) return tl::unexpected(std::move(pair).error());
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
  DataAhead data(timing, needed_by(candidate));
  for (int i = 0; i < samples && !timing.clock.out_of_time(); ++i) {
    tl::expected<LaunchOutcome, CaseFailure> time;
    std::size_t like = 0;
    const auto launch = [&](TimedData& drawn) {
      like = drawn.like;
      time = timed_launch(timing, candidate, drawn);
    };
    data.use(launch, i + 1 < samples);
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
