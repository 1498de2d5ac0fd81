// Speed over what was spent: whether more minutes, or more tokens, gave faster kernels.

#include <algorithm>
#include <cmath>

#include "report/sections.hpp"

namespace kw {
namespace {

constexpr double k_seconds_per_minute = 60;
/// A shorter run is drawn in seconds.
constexpr double k_least_minutes = 3;

/// The tokens of all replies that were taken when the candidate was proposed.
std::int64_t tokens_until(const Attempt& attempt, std::span<const Turn> turns) {
  std::int64_t tokens = 0;
  for (const auto& turn : turns) {
    const auto& usage = turn.reply.usage;
    if (turn.before_attempt <= attempt.ordinal) tokens += usage.prompt + usage.completion;
  }
  return tokens;
}

SpeedCurve curve_over_time(const RunRecord& run, const std::vector<const Attempt*>& bests) {
  const double end = std::max(run.used.wall_seconds, bests.back()->elapsed_seconds);
  const bool minutes = end >= k_least_minutes * k_seconds_per_minute;
  SpeedCurve curve;
  curve.key = "speed_over_time";
  curve.caption = "Speed of the best kernel over time";
  curve.spent_title = minutes ? "minutes" : "seconds";
  curve.per_unit = minutes ? k_seconds_per_minute : 1;
  for (const Attempt* best : bests) {
    curve.steps.push_back({Number{best->elapsed_seconds, Unit::seconds, {}}, 0, 0, ""});
  }
  curve.end = {end, Unit::seconds, {}};
  return curve;
}

SpeedCurve curve_over_tokens(const std::vector<const Attempt*>& bests, std::span<const Turn> turns) {
  SpeedCurve curve;
  curve.key = "speed_over_tokens";
  curve.caption = "Speed of the best kernel over the model's tokens";
  curve.spent_title = "tokens";
  for (const Attempt* best : bests) curve.steps.push_back({counted(tokens_until(*best, turns)), 0, 0, ""});
  std::int64_t all = 0;
  for (const auto& turn : turns) all += turn.reply.usage.prompt + turn.reply.usage.completion;
  curve.end = counted(all);
  return curve;
}

}  // namespace

std::vector<SpeedCurve> speed_curves(const RunRecord& run, std::span<const Attempt> attempts,
                                     std::span<const Turn> turns) {
  if (run.baselines.empty() || !(run.baselines.front().median_ns > 0)) return {};
  std::vector<const Attempt*> bests;
  for (const auto& attempt : attempts) {
    const bool timed =
        attempt.measurement && std::isfinite(attempt.measurement->median_ns) && attempt.measurement->median_ns > 0;
    if (attempt.became_best && timed) bests.push_back(&attempt);
  }
  if (bests.empty()) return {};
  std::vector<SpeedCurve> curves = {curve_over_time(run, bests)};
  if (!turns.empty()) curves.push_back(curve_over_tokens(bests, turns));
  for (auto& curve : curves) {
    curve.baseline = run.baselines.front().name;
    for (std::size_t i = 0; i < bests.size(); ++i) {
      curve.steps[i].speedup = run.baselines.front().median_ns / bests[i]->measurement->median_ns;
      curve.steps[i].ordinal = bests[i]->ordinal;
      curve.steps[i].proposer = bests[i]->proposer;
    }
  }
  return curves;
}

}  // namespace kw
