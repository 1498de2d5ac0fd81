#pragma once
// What a suite ends with, as numbers. Pure. A problem without a verified kernel has no speedup, and counts in every
// share as one that was not solved.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace kw {

struct SolvedStep {
  double seconds = 0;
  std::int64_t solved = 0;  ///< problems with a verified kernel after so many seconds of their own budget
};
/// One step for each distinct time, in ascending order.
[[nodiscard]] std::vector<SolvedStep> solved_over_time(std::vector<double> first_correct_seconds);

/// The thresholds that are reported.
inline constexpr double k_fast_p_thresholds[] = {0.0, 0.8, 1.0, 1.5, 2.0};
/// As KernelBench has it: the share of all problems that are solved and more than `p` times as fast as the baseline.
/// 0 of no problems.
[[nodiscard]] double fast_p(std::span<const std::optional<double>> speedups, double p);

/// Of the solved ones. Nothing where none is, or where one is not a positive number.
[[nodiscard]] std::optional<double> geometric_mean(std::span<const std::optional<double>> speedups);

/// The seconds after which half of all `problems` were solved: those that were not count as never. Nothing where half
/// of them never were.
[[nodiscard]] std::optional<double> median_seconds(std::vector<double> first_correct_seconds, std::int64_t problems);

}  // namespace kw
