#include <algorithm>
#include <cmath>
#include <limits>

#include "mod/analysis/row_evaluator.hpp"
#include "operators/attention/attention.hpp"
#include "operators/attention/parts.hpp"

namespace kw {
namespace {

/// exp(-4) is 2 %: below this the first and the last key still count alike.
constexpr double k_uneven = 4.0;

/// What the score function makes of scores of 0 in the middle row of a head, about the middle of their range; 0 where
/// it is not finite, or so low that the key is meant to be masked.
struct Lean {
  std::vector<double> scores;
  double range = 0;
};

Lean lean_of(const AttentionSpec& spec, const Axes& axes, const CaptureData& captures, std::int64_t batch,
             std::int64_t head) {
  Lean lean;
  lean.scores.assign(static_cast<std::size_t>(axes.at("Skv")), 0.0);
  ModRowEvaluator(*spec.score_mod, axes, captures).run({batch, head, axes.at("Sq") / 2}, 0, lean.scores);
  double most = -std::numeric_limits<double>::infinity();
  for (const double score : lean.scores)
    if (std::isfinite(score)) most = std::max(most, score);
  const auto counts = [&](double score) { return std::isfinite(score) && score > most - k_masking_distance; };
  double least = most;
  for (const double score : lean.scores)
    if (counts(score)) least = std::min(least, score);
  for (double& score : lean.scores) score = counts(score) ? score - (least + most) / 2 : 0.0;
  lean.range = std::isfinite(most) ? most - least : 0.0;
  return lean;
}

/// Whether the function alone moves scores within a row so far apart that some keys hardly count.
Result<bool> favours_some_keys(const Problem& problem, const Workload& workload) {
  const AttentionSpec* spec = attention_of(problem);
  if (!spec->score_mod || workload.axes.at("D") < 2) return false;
  KW_TRY(const CaptureData captures, draw_captures(problem.captures, workload.axes, k_nominal_seed));
  for (std::int64_t head = 0; head < workload.axes.at("Hq"); ++head) {
    if (lean_of(*spec, workload.axes, captures, 0, head).range > k_uneven) return true;
  }
  return false;
}

/// Of query heads that share keys, one drawn from `rng` is levelled: the product of the first elements of a query and a
/// key, scaled, is the lean with its sign turned, and 0 in heads that do not lean. The other elements are random.
InputValues level_scores(const Problem& problem, const Workload& workload, const CaptureData& captures, Rng& rng,
                         const ParallelFor& parallel) {
  if (!attention_of(problem)->score_mod) return {};
  const AttentionSpec& spec = *attention_of(problem);
  const Axes& axes = workload.axes;
  const std::int64_t key_heads = axes.at("Hkv");
  const std::int64_t sharing = axes.at("Hq") / key_heads;
  const std::int64_t slices = axes.at("B") * key_heads;
  const auto queries = static_cast<std::size_t>(sharing * axes.at("Sq"));
  const auto keys = static_cast<std::size_t>(axes.at("Skv"));
  std::vector<std::int64_t> levelled;
  for (std::int64_t slice = 0; slice < slices; ++slice) levelled.push_back(rng.below(sharing));
  InputValues firsts(2);
  firsts[0].resize(static_cast<std::size_t>(slices) * queries);
  firsts[1].resize(static_cast<std::size_t>(slices) * keys);
  parallel(slices, [&](std::int64_t i) {
    const auto slice = static_cast<std::size_t>(i);
    const Lean lean = lean_of(spec, axes, captures, i / key_heads, i % key_heads * sharing + levelled[slice]);
    if (lean.range <= k_uneven) return;
    const double query = std::sqrt(lean.range / std::abs(spec.scale_for(axes)));
    std::fill_n(firsts[0].begin() + static_cast<std::ptrdiff_t>(slice * queries), queries, static_cast<float>(query));
    std::ranges::transform(lean.scores, firsts[1].begin() + static_cast<std::ptrdiff_t>(slice * keys),
                           [&](double score) { return static_cast<float>(-score / (query * spec.scale_for(axes))); });
  });
  return firsts;
}

/// The primary workload as well: a kernel may choose another way there.
Result<bool> suits_always(const Problem&, const Workload&) {
  return true;
}

std::optional<DrawRule> normal_rows(const Problem&, const Workload&, std::size_t) {
  return DrawRule{};
}

/// Moves all elements of a row alike, those of Q's second half the other way, so that products of rows of Q and K come
/// to +-120 when they are divided by the root of their length.
std::optional<DrawRule> offset_rows(const Problem& problem, const Workload& workload, std::size_t operand) {
  constexpr double k_product = 120.0;
  const auto row_length = static_cast<double>(workload.axes.at(problem.inputs[operand].axes.back()));
  DrawRule rule;
  rule.shift = static_cast<float>(std::sqrt(k_product) / std::pow(row_length, 0.25));
  rule.late_shift = operand == 0 ? -rule.shift : rule.shift;
  return rule;
}

void keep(const Problem&, const Workload&, const CaptureData&, InputValues&, Rng&, const ParallelFor&) {}

}  // namespace

const std::vector<OwnDistribution>& attention_distributions() {
  static const std::vector<OwnDistribution> all = {{"offset", suits_always, offset_rows, keep, no_first_elements},
                                                   {"level", favours_some_keys, normal_rows, keep, level_scores}};
  return all;
}

}  // namespace kw
