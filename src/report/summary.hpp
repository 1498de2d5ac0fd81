#pragma once
// The figures that the report and `optimize --json` share, each worked out in one place.

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "record/run_record.hpp"

namespace kw {

/// How much faster the best kernel is than one baseline.
struct Speedup {
  std::string name;
  double ratio = 1;
  /// The interleaved comparison behind it; absent: the two medians were divided, which is weaker evidence.
  std::optional<Versus> versus;

  /// Whether it may be printed as a result: not from so few undisturbed pairs that they bound nothing.
  [[nodiscard]] bool stands() const;
};

struct CandidateCounts {
  std::int64_t proposed = 0;
  std::int64_t built = 0;       ///< passed gate build
  std::int64_t correct = 0;     ///< passed gate check, on all evidence
  std::int64_t screened = 0;    ///< right on the smallest evidence, not fast enough for all of it; not among `correct`
  std::int64_t timed = 0;       ///< have a measurement
  std::int64_t unverified = 0;  ///< the harness could not decide
  std::map<GateId, std::int64_t> rejected_by;
};

struct RunSummary {
  const Attempt* best = nullptr;             ///< points into the attempts; null: no candidate passed every gate
  std::optional<Measurement> best_measured;  ///< re-measured in fresh processes where that was done
  bool remeasured = false;
  std::vector<Speedup> speedups;  ///< one per baseline, in their order; empty without a best
  CandidateCounts counts;
};

[[nodiscard]] RunSummary summarize(const RunRecord& run, std::span<const Attempt> attempts);

/// A rate that falls as the time rises, with the interval that follows from the time's.
[[nodiscard]] std::optional<Interval> rate_interval(double rate, const Measurement& measured);

[[nodiscard]] bool passed(const Verdict& verdict, GateId gate);

}  // namespace kw
