// The gate `time`: interleaved with the champion, or alone while there is none. A time that cannot be believed
// (verify/timing/doubt.hpp) is a rejection, not a record.

#include <algorithm>
#include <numeric>

#include "record/time_use.hpp"
#include "verify/checking/case_runner.hpp"
#include "verify/gates/gate.hpp"
#include "verify/timing/doubt.hpp"
#include "verify/timing/timing.hpp"

namespace kw {
namespace {

bool reject_timing(GateContext& context, const TimingFailure& why) {
  const CheckCase& one = context.facts.suite.cases()[why.case_index];
  if (why.candidate_at_fault) {
    reject_case(context.facts.problem, one, GateId::time, why.failure, context.verdict);
  } else {
    context.verdict.cannot_decide(GateId::time,
                                  "the incumbent failed while being timed against: " + why.failure.sentence);
  }
  return false;
}

bool end_of_budget(GateContext& context) {
  context.verdict.cannot_decide(GateId::time, k_budget_ended);
  return false;
}

TimingContext timing_of(GateContext& context) {
  return {context.facts, context.measuring.baseline, context.clock, context.measuring.rng, context.measuring.data};
}

/// While there is no champion.
tl::expected<TimingResult, TimingFailure> time_first(GateContext& context, TimingContext timing) {
  const SoloSamples samples = solo_samples(context.loaded.built.plans[0].plan);
  timing.least_rows = samples.least_rows;
  return time_alone(timing, context.loaded, samples.launches);
}

/// The process is gone, whatever ended it; what it would have answered, nobody knows.
bool is_lost(const CaseFailure& failure) {
  return failure.reason == Reason::crashed || failure.reason == Reason::memory_limit ||
         failure.reason == Reason::timeout;
}

bool start_again(GateContext& context, LoadedCandidate& champion) {
  const auto starting = context.clock.doing(time_activity::starting);
  return !start_candidate(context.facts.backend, champion, context.facts.options.deadlines.start);
}

/// Interleaved. A champion whose process has gone, as one does that the system kills for its memory, gets a new one and
/// is tried once more: without it, no later candidate of the run could be decided.
tl::expected<TimingResult, TimingFailure> compare_with_champion(GateContext& context, const TimingContext& timing) {
  const RunFacts& facts = context.facts;
  LoadedCandidate& champion = *context.measuring.champion;
  const auto compare = [&] {
    return compare_interleaved(timing, context.loaded, champion, facts.options.comparison, "incumbent");
  };
  auto timed = compare();
  const bool lost = !timed && !timed.error().candidate_at_fault && is_lost(timed.error().failure);
  if (!lost || context.clock.out_of_time()) return timed;
  return start_again(context, champion) ? compare() : timed;
}

/// With the incumbent, and again from the start while disturbed pairs keep it from a decision and there is time for it.
/// What was discarded before is counted.
tl::expected<TimingResult, TimingFailure> compare_undisturbed(GateContext& context, const TimingContext& timing) {
  TenthOfTime& retiming = context.measuring.retiming;
  auto timed = compare_with_champion(context, timing);
  while (timed && timed->versus.decision == Comparison::unreliable && retiming.has_time(context.facts) &&
         !context.clock.out_of_time()) {
    const std::int64_t discarded = timed->versus.pairs + timed->versus.discarded_pairs;
    const Instant began = context.facts.clock.now();
    timed = compare_with_champion(context, timing);
    retiming.used += context.facts.clock.now() - began;
    if (timed) timed->versus.discarded_pairs += discarded;
  }
  return timed;
}

/// `took` for all that was timed.
Duration data_of_launch(const TimingResult& timed, Duration took) {
  const auto launches = static_cast<std::int64_t>(timed.candidate_ns.size());
  if (launches == 0) return {};
  double ns = 0;
  for (const auto* times : {&timed.candidate_ns, &timed.other_ns})
    ns = std::accumulate(times->begin(), times->end(), ns);
  return std::max(Duration::zero(), took - from_seconds(1e-9 * ns)) / launches;
}

}  // namespace

bool run_time_gate(GateContext& context) {
  const TimingContext timing = timing_of(context);
  const Instant began = context.facts.clock.now();
  auto timed = context.measuring.champion ? compare_undisturbed(context, timing) : time_first(context, timing);
  if (!timed && !timed.error().candidate_at_fault && context.clock.deadline_hit()) return end_of_budget(context);
  if (!timed) return reject_timing(context, timed.error());
  context.measuring.data_of_launch = data_of_launch(*timed, context.facts.clock.now() - began);
  // Too few launches for a decision, or for what was found in them to count.
  if (context.clock.deadline_hit()) return end_of_budget(context);
  if (timed->candidate_ns.empty()) {
    context.verdict.cannot_decide(GateId::time, "every timed pair was disturbed by other work on the machine");
    return false;
  }
  context.measurement = summarise(timed->candidate_ns, context.measuring.rng);
  if (context.measuring.champion) {
    context.measurement->stopped_early = timed->stopped_early;
    context.measurement->versus.push_back(timed->versus);
  }
  context.verdict.note(GateId::time, fmt::format("median claimed by the process {:.0f} ns, seen by the host {:.0f} ns",
                                                 median(timed->claimed_ns), median(timed->observed_ns)));
  const auto doubt = doubt_about(timing, context.measuring, context.loaded, *timed, context.measurement->median_ns);
  // A doubt that there was no time to look into is no reason.
  if (doubt && context.clock.deadline_hit()) return end_of_budget(context);
  if (doubt) context.verdict.reject(GateId::time, doubt->reason, doubt->sentence);
  return !doubt;
}

}  // namespace kw
