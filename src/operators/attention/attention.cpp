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

/// Random numbers are biases and slopes. Truths and integers decide where another number stands in a score's place.
bool may_be_mask(const Capture& capture, double score_bound) {
  if (scalar_type(capture.declared.dtype) != ScalarType::real) return true;
  if (std::holds_alternative<GeneratedValues>(capture.source)) return false;
  const auto* fixed = std::get_if<FixedValues>(&capture.source);
  return fixed == nullptr || std::any_of(fixed->values.begin(), fixed->values.end(),
                                         [&](float value) { return std::fabs(value) > score_bound; });
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
  const double bound = k_score_bound * std::max(1.0, std::abs(spec.scale.value_or(1.0)));
  spec.apart = with_masks_apart(spec.score_mod, spec.mask_mod, bound);
  spec.losing.reset();
  if (!is_interval(spec.apart.mask_mod)) {
    spec.losing = losing_term(spec.apart.score_mod, spec.apart.mask_mod, bound, [&](const std::string& name) {
      return std::any_of(problem.captures.begin(), problem.captures.end(), [&](const Capture& capture) {
        return capture.declared.name == name && may_be_mask(capture, bound);
      });
    });
  }
  problem.detail = std::make_shared<const AttentionSpec>(std::move(spec));
}

}  // namespace kw
