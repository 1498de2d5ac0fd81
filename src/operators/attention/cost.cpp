#include "operators/attention/cost.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "mod/analysis/analysis.hpp"
#include "mod/analysis/row_evaluator.hpp"
#include "operators/attention/attention.hpp"

namespace kw {
namespace {

constexpr std::int64_t k_max_mask_evaluations = std::int64_t{1} << 24;

double bytes_of(const std::vector<TensorSpec>& tensors, const Axes& axes) {
  double bytes = 0;
  for (const auto& tensor : tensors) {
    // Counted when the problem was checked.
    bytes +=
        static_cast<double>(element_count(tensor, axes).value()) * static_cast<double>(bytes_per_element(tensor.dtype));
  }
  return bytes;
}

/// Replaces the terms of a row by 1 where its key counts, and 0 where it can only lose.
void count_keys(double distance, std::vector<double>& row) {
  double largest = -std::numeric_limits<double>::infinity();
  for (const double term : row)
    if (term > largest) largest = term;
  const double limit = losing_limit(largest, distance);
  for (double& term : row) term = term <= limit ? 0.0 : 1.0;
}

/// Counts what the mask lets through, or the keys that do not lose by the term, on every row or on evenly spaced ones
/// when there are too many.
AttendedPairs density_of(const ModFunction& mask, std::optional<double> distance, const Axes& axes,
                         const CaptureData& captures) {
  const auto depends = dependencies(mask)[static_cast<std::size_t>(mask.root)];
  const std::int64_t batches = depends.batch ? axes.at("B") : 1;
  const std::int64_t heads = depends.head ? axes.at("Hq") : 1;
  const std::int64_t queries = depends.query ? axes.at("Sq") : 1;
  const std::int64_t keys = axes.at("Skv");
  const double all_rows = static_cast<double>(batches) * static_cast<double>(heads) * static_cast<double>(queries);
  const std::int64_t affordable_rows = k_max_mask_evaluations / keys;
  const double affordable = std::max(1.0, static_cast<double>(affordable_rows));
  const double step = std::max(1.0, all_rows / affordable);

  ModRowEvaluator evaluator(mask, axes, captures);
  std::vector<double> row(static_cast<std::size_t>(keys));
  double attended = 0;
  double rows = 0;
  // The middle of each step, so that the sample is not biased towards the first rows.
  for (double at = (step - 1.0) / 2.0; at < all_rows; at += step) {
    const auto index = static_cast<std::int64_t>(at);
    evaluator.run({index / queries / heads, index / queries % heads, index % queries}, 0, row);
    if (distance) count_keys(*distance, row);
    for (const double value : row) attended += value;
    rows += 1;
  }
  return {attended / (rows * static_cast<double>(keys)), step == 1.0};
}

}  // namespace

AttendedPairs attended_pairs(const Problem& problem, const Workload& workload) {
  const auto& attention = *attention_of(problem);
  const auto& mask = attention.apart.mask_mod;
  if (!mask && !attention.losing) return {1.0, true};
  const auto captures = draw_captures(problem.captures, workload.axes, k_nominal_seed);
  if (!captures) return {1.0, false};
  const auto& losing = attention.losing;
  if (losing) return density_of(losing->term, losing->distance, workload.axes, *captures);
  return density_of(*mask, std::nullopt, workload.axes, *captures);
}

WorkloadCost attention_cost(const Problem& problem, const Workload& workload) {
  const auto& axes = workload.axes;
  const auto extent = [&](const char* name) { return static_cast<double>(axes.at(name)); };
  const double attended = attended_pairs(problem, workload).share;
  const double pairs = extent("B") * extent("Hq") * extent("Sq") * extent("Skv") * attended;
  const double flops = 2.0 * pairs * (extent("D") + extent("Dv"));
  return {flops, bytes_of(problem.inputs, axes) + bytes_of(problem.outputs, axes), flops};
}

}  // namespace kw
