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

Error failed(const TimingFailure& why) {
  return {errc::worker_failed, "the best kernel failed its final measurement: " + why.failure.sentence,
          "run the same command with --resume to measure it again"};
}

void append(std::vector<double>& all, const std::vector<double>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

/// The launches of all processes: interleaved pairs against the plain kernel, then more of the champion, each followed
/// by one of the copy where that says something.
class FinalLaunches {
 public:
  FinalLaunches(MeasureState& measuring, PairedComparison& comparison, CopyComparison& copy, const HasTime& has_time)
      : measuring_(measuring),
        comparison_(comparison),
        copy_(copy),
        has_time_(has_time),
        pair_took_(plain_time(measuring)) {}

  /// Those of one process, in the processes just started.
  Result<void> time_one_process(const TimingContext& timing) {
    KW_TRY_VOID(time_pairs(timing));
    for (int i = 0; i < final_launches_alone(copy_.says_something()) && has_time_(alone_took_); ++i) {
      KW_TRY_VOID(time_once_alone(timing));
    }
    return {};
  }

  [[nodiscard]] const TimingResult& timed() const { return timed_; }

 private:
  /// A disturbed pair is taken again, but not for ever: a machine that is never quiet gets "unreliable". The first pair
  /// is worth more tries than the others: without any there is no result.
  Result<void> time_pairs(const TimingContext& timing) {
    constexpr std::size_t k_tries = 2, k_tries_for_the_first = 10;
    const std::size_t pairs = final_pairs(measuring_.baseline.time.median_ns);
    const std::size_t wanted = timed_.other_ns.size() + pairs;
    const auto may_try = [&](std::size_t tries) {
      if (tries < k_tries * pairs) return timed_.other_ns.empty() || has_time_(pair_took_);
      return timed_.other_ns.empty() && tries < k_tries_for_the_first * pairs && has_time_(pair_took_);
    };
    for (std::size_t tries = 0; timed_.other_ns.size() < wanted && may_try(tries); ++tries) {
      const Instant began = timing.facts.clock.now();
      const auto done = time_pair(timing, *measuring_.champion, measuring_.baseline.loaded, comparison_, timed_);
      if (!done) return fail(failed(done.error()));
      pair_took_ = timing.facts.clock.now() - began;
      alone_took_ = pair_took_ - std::min(pair_took_, plain_time(measuring_));  // nearly all may be the plain kernel
    }
    return {};
  }

  Result<void> time_once_alone(const TimingContext& timing) {
    const Instant began = timing.facts.clock.now();
    const auto alone = time_alone(timing, *measuring_.champion, 1);
    if (!alone) return fail(failed(alone.error()));
    if (!alone->candidate_ns.empty()) copy_.follow(alone->candidate_ns.back());
    alone_took_ = timing.facts.clock.now() - began;
    append(timed_.candidate_ns, alone->candidate_ns);
    append(timed_.claimed_ns, alone->claimed_ns);
    append(timed_.observed_ns, alone->observed_ns);
    return {};
  }

  MeasureState& measuring_;
  PairedComparison& comparison_;
  CopyComparison& copy_;
  const HasTime& has_time_;
  TimingResult timed_;
  // What the last of each took with its data: whoever has no time for another one does not begin it.
  Duration pair_took_;  ///< at first the plain kernel's part
  Duration alone_took_{};
};

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
  Duration started{};
  const bool beside_copy =
      compares_with_copy(measuring.device, facts.costs().primary()) && has_time(CopyComparison::k_to_build);
  CopyComparison copy(facts, measuring, clock, beside_copy);
  facts.backend.expect((copy.says_something() ? 3 : 2) * processes);  // of the champion, the plain kernel and the copy
  FinalLaunches launches(measuring, comparison, copy, has_time);
  for (int i = 0; i < processes && (i == 0 || has_time(started)); ++i) {
    const Instant began = facts.clock.now();
    KW_TRY_VOID(start_afresh(facts, measuring, clock));
    copy.start();
    started = facts.clock.now() - began;
    const TimingContext timing{facts, measuring.baseline, clock, measuring.rng, measuring.data};
    KW_TRY_VOID(launches.time_one_process(timing));
  }
  comparison.finish();
  const TimingResult& timed = launches.timed();
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
