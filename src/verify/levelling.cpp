#include "verify/levelling.hpp"

#include <algorithm>
#include <cmath>

#include "spec/mod_row_evaluator.hpp"

namespace kw {
namespace {

/// exp(-4) is 2 %: below this the first and the last key still count alike.
constexpr double k_uneven = 4.0;

/// What the score function makes of scores of 0 in the middle row of a head, about the middle of their range; 0 where
/// it is not finite.
struct Lean {
  std::vector<double> scores;
  double range = 0;
};

Lean lean_of(const AttentionSpec& spec, const Axes& axes, const CaptureData& captures, std::int64_t batch,
             std::int64_t head) {
  Lean lean;
  lean.scores.assign(static_cast<std::size_t>(axes.at("Skv")), 0.0);
  ModRowEvaluator(*spec.score_mod, axes, captures).run({batch, head, axes.at("Sq") / 2}, 0, lean.scores);
  double least = 0;
  double most = 0;
  bool any = false;
  for (const double score : lean.scores) {
    if (!std::isfinite(score)) continue;
    least = any ? std::min(least, score) : score;
    most = any ? std::max(most, score) : score;
    any = true;
  }
  for (double& score : lean.scores) score = std::isfinite(score) ? score - (least + most) / 2 : 0.0;
  lean.range = most - least;
  return lean;
}

/// Element 0 of every row of one slice becomes what `value` says of the row.
template <typename Value>
void set_first_elements(std::vector<float>& tensor, std::int64_t slice, std::int64_t rows, std::int64_t row_length,
                        const Value& value) {
  for (std::int64_t row = 0; row < rows; ++row) {
    tensor[static_cast<std::size_t>((slice * rows + row) * row_length)] = static_cast<float>(value(row));
  }
}

}  // namespace

Result<bool> favours_some_keys(const Problem& problem, const Workload& workload) {
  const AttentionSpec* spec = problem.attention();
  if (spec == nullptr || !spec->score_mod || workload.axes.at("D") < 2) return false;
  KW_TRY(const CaptureData captures, draw_captures(problem, workload.axes, k_nominal_seed));
  for (std::int64_t head = 0; head < workload.axes.at("Hq"); ++head) {
    if (lean_of(*spec, workload.axes, captures, 0, head).range > k_uneven) return true;
  }
  return false;
}

void level_scores(const Problem& problem, const Workload& workload, const CaptureData& captures, InputValues& inputs,
                  Rng& rng) {
  if (problem.attention() == nullptr || !problem.attention()->score_mod) return;
  const AttentionSpec& spec = *problem.attention();
  const Axes& axes = workload.axes;
  const std::int64_t key_heads = axes.at("Hkv");
  const std::int64_t sharing = axes.at("Hq") / key_heads;
  for (std::int64_t slice = 0; slice < axes.at("B") * key_heads; ++slice) {
    const std::int64_t head = slice % key_heads * sharing + rng.below(sharing);
    const Lean lean = lean_of(spec, axes, captures, slice / key_heads, head);
    if (lean.range <= k_uneven) continue;
    // The product of the two first elements, scaled, is the lean with its sign turned; the other elements stay random.
    const double query = std::sqrt(lean.range / std::abs(spec.scale_for(axes)));
    for (std::int64_t shared = 0; shared < sharing; ++shared) {
      set_first_elements(inputs[0], slice * sharing + shared, axes.at("Sq"), axes.at("D"),
                         [&](std::int64_t) { return query; });
    }
    set_first_elements(inputs[1], slice, axes.at("Skv"), axes.at("D"), [&](std::int64_t key) {
      return -lean.scores[static_cast<std::size_t>(key)] / (query * spec.scale_for(axes));
    });
  }
}

}  // namespace kw
