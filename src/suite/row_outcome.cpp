#include "suite/row_outcome.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "report/summary.hpp"
#include "verify/checking/check_suite.hpp"
#include "verify/verifier.hpp"

namespace kw {
namespace {

/// The most frequent reason why candidates were rejected.
std::string why_unsolved(std::span<const Attempt> attempts) {
  if (attempts.empty()) return "its budget ended before any kernel was judged";
  const auto first =
      std::ranges::find_if(attempts, [](const Attempt& one) { return one.verdict.status == VerdictStatus::rejected; });
  const Attempt& shown = first == attempts.end() ? attempts.front() : *first;
  return fmt::format("none of {} kernels passed; the first: {}", attempts.size(), on_one_line(shown.verdict.message));
}

void note_best(SuiteRow& row, const RunRecord& run, std::span<const Attempt> attempts) {
  const RunSummary summary = summarize(run, attempts);
  row.best_path = run.best_path;
  if (!summary.best_measured) return;
  row.best_ns = summary.best_measured->median_ns;
  row.best_ci_ns = summary.best_measured->ci_ns;
  row.best_samples = summary.best_measured->samples;
  if (summary.speedups.empty()) return;
  const Speedup& speedup = summary.speedups.front();
  row.speedup = speedup.ratio;
  if (speedup.versus) row.speedup_ci = speedup.versus->speedup_ci;
}

}  // namespace

void note_failure(SuiteRow& row, const Error& error) {
  row.status = error.code == errc::unscorable    ? SuiteStatus::unscorable
               : error.code == errc::out_of_time ? SuiteStatus::unsolved
                                                 : SuiteStatus::failed;
  row.error_code = std::string(error.code.name);
  row.message = error.message;
  if (error.where.line > 0) row.message = fmt::format("line {}: {}", error.where.line, row.message);
}

void note_outcome(SuiteRow& row, const RunRecord& run, std::span<const Attempt> attempts) {
  row.run_id = run.id;
  row.used = run.used;
  row.error_code.clear();
  row.message.clear();
  const auto first = std::ranges::find_if(attempts, [](const Attempt& one) { return one.verdict.accepted(); });
  if (first != attempts.end()) row.first_correct_seconds = first->elapsed_seconds;
  if (!run.baselines.empty()) row.plain_ns = run.baselines.front().median_ns;
  if (run.best_ordinal) note_best(row, run, attempts);
  if (run.status == RunStatus::interrupted) {
    row.status = SuiteStatus::interrupted;
  } else {
    row.status = run.best_ordinal ? SuiteStatus::solved : SuiteStatus::unsolved;
    if (!run.best_ordinal) row.message = why_unsolved(attempts);
  }
}

}  // namespace kw
