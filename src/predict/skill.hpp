#pragma once
// How good predictions were, beside a roofline that knows nothing else.

#include <span>
#include <vector>

#include "predict/time_model.hpp"

namespace kw {

/// Spearman's rank correlation; equal values share their mean rank. 0 where one side does not vary.
[[nodiscard]] double rank_correlation(std::span<const double> a, std::span<const double> b);

struct Skill {
  std::size_t samples = 0;
  std::size_t groups = 0;  ///< shapes on devices
  /// Median over the groups of the rank correlation of their candidates: what choosing among candidates depends on. A
  /// roofline has none, for it says the same of all. The style's cost model: over groups whose estimates are known.
  double rank_in_group = 0;
  double style_rank_in_group = 0;
  std::size_t style_groups = 0;
  /// Over all samples together, of times.
  double rank = 0, roofline_rank = 0;
  /// Median of |predicted / timed - 1|.
  double error = 0, roofline_error = 0;
};

/// Of at least one prediction.
[[nodiscard]] Skill skill_of(std::span<const TimeSample> samples, std::span<const HeldOut> predictions);

}  // namespace kw
