#include "operators/attention/attention.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "mod/analysis/analysis.hpp"

namespace kw {

namespace {

bool is_interval(std::optional<ModFunction> mask) {
  return mask && row_interval(*mask).has_value();
}

}  // namespace

double AttentionSpec::scale_for(const Axes& axes) const {
  return scale ? *scale : 1.0 / std::sqrt(static_cast<double>(axes.at("D")));
}

const AttentionSpec* attention_of(const Problem& problem) {
  return dynamic_cast<const AttentionSpec*>(problem.detail.get());
}

bool needs_block_mask(const AttentionSpec& attention) {
  return attention.losing || (attention.apart.mask_mod && !is_interval(attention.apart.mask_mod));
}

void set_attention(Problem& problem, AttentionSpec spec) {
  // Ordinary scores are hundreds, and spiked inputs make thousands.
  constexpr double k_score_bound = 4096.0;
  const double factor = std::max(1.0, std::abs(spec.scale.value_or(1.0)));
  spec.apart = with_masks_apart(spec.score_mod, spec.mask_mod, k_score_bound * factor);
  spec.losing.reset();
  if (!is_interval(spec.apart.mask_mod))
    spec.losing = losing_term(spec.apart.score_mod, spec.apart.mask_mod, k_score_bound * factor);
  problem.detail = std::make_shared<const AttentionSpec>(std::move(spec));
}

}  // namespace kw
