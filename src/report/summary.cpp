#include "report/summary.hpp"

#include <algorithm>

namespace kw {
namespace {

CandidateCounts count(std::span<const Attempt> attempts) {
  CandidateCounts counts;
  for (const auto& attempt : attempts) {
    const Verdict& verdict = attempt.verdict;
    ++counts.proposed;
    counts.built += passed(verdict, GateId::build) ? 1 : 0;
    counts.correct += passed(verdict, GateId::check) ? 1 : 0;
    counts.screened += verdict.status == VerdictStatus::screened ? 1 : 0;
    counts.timed += attempt.measurement ? 1 : 0;
    counts.unverified += verdict.status == VerdictStatus::unverified ? 1 : 0;
    if (verdict.status == VerdictStatus::rejected && verdict.failed_gate) ++counts.rejected_by[*verdict.failed_gate];
  }
  return counts;
}

Speedup speedup_over(const BaselineRecord& baseline, const Measurement& best) {
  for (const auto& versus : best.versus) {
    if (versus.name == baseline.name) return {baseline.name, versus.speedup, versus};
  }
  return {baseline.name, baseline.median_ns / best.median_ns, std::nullopt};
}

}  // namespace

bool Speedup::stands() const {
  constexpr double k_least_confidence = 0.95;  // six pairs
  if (!versus) return true;
  // A decision by few launches that are far apart stands as well: docs/measuring.md.
  return versus->decision == Comparison::faster ||
         (versus->decision != Comparison::unreliable && versus->speedup_ci.confidence >= k_least_confidence);
}

bool passed(const Verdict& verdict, GateId gate) {
  return std::find(verdict.gates_passed.begin(), verdict.gates_passed.end(), gate) != verdict.gates_passed.end();
}

std::optional<Interval> rate_interval(double rate, const Measurement& measured) {
  if (!(measured.ci_ns.low > 0) || !(measured.ci_ns.confidence > 0)) return std::nullopt;
  const double work = rate * measured.median_ns;
  return Interval{work / measured.ci_ns.high, work / measured.ci_ns.low, measured.ci_ns.confidence};
}

RunSummary summarize(const RunRecord& run, std::span<const Attempt> attempts) {
  RunSummary summary;
  summary.counts = count(attempts);
  const auto best = std::find_if(attempts.begin(), attempts.end(), [&](const Attempt& attempt) {
    return run.best_ordinal == attempt.ordinal && attempt.verdict.accepted();
  });
  if (best == attempts.end()) return summary;
  summary.best = &*best;
  summary.remeasured = run.best_final.has_value();
  summary.best_measured = run.best_final ? run.best_final : best->measurement;
  if (!summary.best_measured) return summary;
  for (const auto& baseline : run.baselines) {
    summary.speedups.push_back(speedup_over(baseline, *summary.best_measured));
  }
  return summary;
}

}  // namespace kw
