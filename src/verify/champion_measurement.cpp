#include "verify/champion_measurement.hpp"

#include <algorithm>
#include <chrono>

#include "record/time_use.hpp"
#include "verify/checking/case_runner.hpp"
#include "verify/gates/gate.hpp"
#include "verify/timing/copy_comparison.hpp"
#include "verify/timing/doubt.hpp"
#include "verify/timing/final_launches.hpp"
#include "verify/timing/timing.hpp"
#include "verify/tools/profile.hpp"
#include "verify/verifier.hpp"

namespace kw {
namespace {

Duration plain_time(const MeasureState& measuring) {
  return Duration(static_cast<std::int64_t>(measuring.baseline.time.median_ns));
}

/// What the last of each took with its data: whoever has no time for another one does not begin it.
struct LastTook {
  Duration pair;     ///< at first the plain kernel's part
  Duration alone{};  ///< a launch of the champion
};

/// Interleaved pairs against the plain kernel, then more launches of the champion, each followed by one of the copy
/// where that says something, in the processes just started.
Result<void> time_one_process(const TimingContext& timing, MeasureState& measuring, PairedComparison& comparison,
                              TimingResult& timed, CopyComparison& copy, LastTook& took, const HasTime& has_time) {
  const Clock& clock = timing.facts.clock;
  const auto failed = [](const TimingFailure& why) {
    return fail(Error{errc::worker_failed, "the best kernel failed its final measurement: " + why.failure.sentence,
                      "run the same command with --resume to measure it again"});
  };
  LoadedCandidate& champion = *measuring.champion;
  // A disturbed pair is taken again, but not for ever: a machine that is never quiet gets "unreliable". The first pair
  // is worth more tries than the others: without any there is no result.
  constexpr std::size_t k_tries = 2, k_tries_for_the_first = 10;
  const std::size_t pairs = final_pairs(measuring.baseline.time.median_ns);
  const std::size_t wanted = timed.other_ns.size() + pairs;
  const auto may_try = [&](std::size_t tries) {
    if (tries < k_tries * pairs) return timed.other_ns.empty() || has_time(took.pair);
    return timed.other_ns.empty() && tries < k_tries_for_the_first * pairs && has_time(took.pair);
  };
  for (std::size_t tries = 0; timed.other_ns.size() < wanted && may_try(tries); ++tries) {
    const Instant began = clock.now();
    if (auto done = time_pair(timing, champion, measuring.baseline.loaded, comparison, timed); !done) {
      return failed(done.error());
    }
    took.pair = clock.now() - began;
    took.alone = took.pair - std::min(took.pair, plain_time(measuring));  // nearly all of it may be the plain kernel
  }
  const auto append = [](std::vector<double>& all, const std::vector<double>& more) {
    all.insert(all.end(), more.begin(), more.end());
  };
  for (int i = 0; i < final_launches_alone(copy.says_something()) && has_time(took.alone); ++i) {
    const Instant began = clock.now();
    const auto alone = time_alone(timing, champion, 1);
    if (!alone) return failed(alone.error());
    if (!alone->candidate_ns.empty()) copy.follow(alone->candidate_ns.back());
    took.alone = clock.now() - began;
    append(timed.candidate_ns, alone->candidate_ns);
    append(timed.claimed_ns, alone->claimed_ns);
    append(timed.observed_ns, alone->observed_ns);
  }
  return {};
}

/// Champion and plain kernel in new processes. From the binaries that were checked, not from a new build: the build
/// process has since compiled other candidates.
Result<void> start_afresh(const RunFacts& facts, MeasureState& measuring, const StepClock& clock) {
  const auto starting = clock.doing(time_activity::starting);
  for (LoadedCandidate* loaded : {&*measuring.champion, &measuring.baseline.loaded}) {
    if (auto failure = start_candidate(facts.backend, *loaded, facts.options.deadlines.start)) {
      return fail(Error{errc::worker_failed, "cannot start a process for the final measurement: " + failure->sentence,
                        "run the same command with --resume"});
    }
  }
  return {};
}

}  // namespace

Result<Measurement> measure_champion(const RunFacts& facts, MeasureState& measuring, int processes,
                                     const HasTime& has_time, StepClock& clock) {
  ComparisonRule rule = facts.options.comparison;
  rule.looks = {processes * static_cast<int>(final_pairs(measuring.baseline.time.median_ns))};
  rule.max_discarded = 1;  // judged at the end: until then disturbed pairs are taken again
  rule.early.clear();      // the champion is never given up early
  PairedComparison comparison(rule, measuring.rng.next());
  TimingResult timed;
  Duration started{};
  LastTook took{plain_time(measuring)};
  const bool beside_copy =
      compares_with_copy(measuring.device, facts.costs().primary()) && has_time(CopyComparison::k_to_build);
  CopyComparison copy(facts, measuring, clock, beside_copy);
  facts.backend.expect((copy.says_something() ? 3 : 2) * processes);  // of the champion, the plain kernel and the copy
  for (int i = 0; i < processes && (i == 0 || has_time(started)); ++i) {
    const Instant began = facts.clock.now();
    KW_TRY_VOID(start_afresh(facts, measuring, clock));
    copy.start();
    started = facts.clock.now() - began;
    const TimingContext timing{facts, measuring.baseline, clock, measuring.rng, measuring.data};
    KW_TRY_VOID(time_one_process(timing, measuring, comparison, timed, copy, took, has_time));
  }
  comparison.finish();
  if (timed.other_ns.empty()) {
    return fail(Error{errc::disturbed, "the best kernel was not measured at the end: every launch was disturbed",
                      "run the same command with --resume when the machine is quiet"});
  }
  BaselineRecord& plain = measuring.baseline.time;
  Measurement measurement = summarise(timed.candidate_ns, measuring.rng);
  const TimingContext timing{facts, measuring.baseline, clock, measuring.rng, measuring.data};
  const auto doubt = timed.candidate_ns.empty()
                         ? std::nullopt
                         : doubt_about(timing, measuring, *measuring.champion, timed, measurement.median_ns);
  if (doubt) {
    return fail(Error{errc::worker_failed, "the best kernel's final time cannot be believed: " + doubt->sentence,
                      "run the same command with --resume to measure it again"});
  }
  Versus& versus = measurement.versus.emplace_back(comparison.result());
  versus.name = plain.name;
  // A plain kernel that takes seconds is launched too few times for a decision by pairs.
  if (versus.decision == Comparison::undecided &&
      all_below(timed.candidate_ns, timed.other_ns, 1 + rule.equivalence, rule.total_alpha)) {
    versus.decision = Comparison::faster;
  }
  if (versus.discarded_pairs > versus.pairs) versus.decision = Comparison::unreliable;
  const Measurement plain_summary = summarise(timed.other_ns, measuring.rng);
  plain = {plain.name, plain_summary.median_ns, plain_summary.ci_ns};
  fill_profile(facts, measuring, measurement);
  measurement.beside_copy = copy.result(measuring.rng);
  // Why there are no counters was said when the kernel became the best, or is no news at the end.
  constexpr Duration k_short = std::chrono::seconds(5);
  const LaunchPlan& plan = measuring.champion->built.plans.front().plan;
  const Duration profiling = profiling_time(plan, measurement.median_ns);
  const bool is_worth = profiling <= k_short || measuring.profiling.has_time(facts, plan, measurement.median_ns);
  if (is_worth && has_time(profiling)) {
    static_cast<void>(count_in_hardware(facts, measuring.profiling, *measuring.champion, clock, measurement));
  }
  return measurement;
}

}  // namespace kw
