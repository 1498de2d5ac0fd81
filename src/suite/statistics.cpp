#include "suite/statistics.hpp"

#include <algorithm>
#include <cmath>

namespace kw {

std::vector<SolvedStep> solved_over_time(std::vector<double> first_correct_seconds) {
  std::sort(first_correct_seconds.begin(), first_correct_seconds.end());
  std::vector<SolvedStep> steps;
  for (const double seconds : first_correct_seconds) {
    if (steps.empty() || steps.back().seconds < seconds) {
      steps.push_back({seconds, steps.empty() ? 0 : steps.back().solved});
    }
    ++steps.back().solved;
  }
  return steps;
}

double fast_p(std::span<const std::optional<double>> speedups, double p) {
  if (speedups.empty()) return 0;
  const auto fast = std::ranges::count_if(speedups, [p](const auto& one) { return one && *one > p; });
  return static_cast<double>(fast) / static_cast<double>(speedups.size());
}

std::optional<double> geometric_mean(std::span<const std::optional<double>> speedups) {
  double sum = 0;
  std::int64_t count = 0;
  for (const auto& speedup : speedups) {
    if (!speedup) continue;
    if (!(*speedup > 0) || !std::isfinite(*speedup)) return std::nullopt;
    sum += std::log(*speedup);
    ++count;
  }
  if (count == 0) return std::nullopt;
  return std::exp(sum / static_cast<double>(count));
}

std::optional<double> median_seconds(std::vector<double> first_correct_seconds, std::int64_t problems) {
  std::sort(first_correct_seconds.begin(), first_correct_seconds.end());
  const auto solved = std::ssize(first_correct_seconds);
  if (problems == 0 || 2 * solved < problems + problems % 2) return std::nullopt;
  const auto upper = static_cast<std::size_t>(problems / 2);
  if (problems % 2 == 1) return first_correct_seconds[upper];
  // With exactly half of them solved, the upper of the two middle ones is never.
  if (upper >= first_correct_seconds.size()) return first_correct_seconds[upper - 1];
  return (first_correct_seconds[upper - 1] + first_correct_seconds[upper]) / 2;
}

}  // namespace kw
