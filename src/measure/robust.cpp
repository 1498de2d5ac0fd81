// Median and its bootstrap interval.

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/result.hpp"
#include "measure/measure.hpp"

namespace kw {
namespace {

/// Gamma(shape, 1) for shape >= 1 (Marsaglia and Tsang 2000).
double draw_gamma(double shape, Rng& rng) {
  const double d = shape - 1.0 / 3.0;
  const double c = 1.0 / std::sqrt(9.0 * d);
  while (true) {
    const double x = rng.normal();
    const double root = 1.0 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root;
    if (std::log(1.0 - rng.uniform()) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v;
  }
}

/// Draws the medians of resamples without drawing the resamples. Resampling n sorted values is drawing n uniform
/// positions; the median needs only the middle one, whose distribution is Beta, and for an even n the one above it.
/// The cost does not grow with n.
class ResampledMedian {
 public:
  explicit ResampledMedian(std::span<const double> values) : sorted_(values.begin(), values.end()) {
    std::sort(sorted_.begin(), sorted_.end());
  }

  double draw(Rng& rng) const {
    const auto n = static_cast<double>(sorted_.size());
    const double rank = std::floor((n + 1) / 2);  // of the lower middle value, counted from 1
    const double below = draw_gamma(rank, rng);
    const double lower = below / (below + draw_gamma(n - rank + 1, rng));
    if (sorted_.size() % 2 == 1) return at(lower);
    // The next order statistic is the smallest of the n - rank positions above it.
    const double upper = lower + (1 - lower) * (1 - std::pow(1 - rng.uniform(), 1 / (n - rank)));
    return (at(lower) + at(upper)) / 2;
  }

 private:
  [[nodiscard]] double at(double position) const {
    const auto index = static_cast<std::size_t>(position * static_cast<double>(sorted_.size()));
    return sorted_[std::min(index, sorted_.size() - 1)];
  }

  std::vector<double> sorted_;
};

/// The smallest and the largest of n values enclose the median of what they were drawn from unless all of them lie on
/// one side of it: 1 - 2^(1 - n), and no interval made of these values can do better.
double confidence_of_extremes(std::size_t count) {
  return 1 - std::exp2(1 - static_cast<double>(count));
}

}  // namespace

double median(std::span<const double> values) {
  KW_CHECK(!values.empty(), "the median of nothing");
  std::vector<double> copy(values.begin(), values.end());
  const auto middle = copy.begin() + static_cast<std::ptrdiff_t>(copy.size() / 2);
  std::nth_element(copy.begin(), middle, copy.end());
  if (copy.size() % 2 == 1) return *middle;
  return (*std::max_element(copy.begin(), middle) + *middle) / 2;
}

Interval bootstrap_median(std::span<const double> values, double confidence, int resamples, Rng& rng) {
  KW_CHECK(!values.empty() && resamples > 0, "{} values, {} resamples", values.size(), resamples);
  const ResampledMedian resampled(values);
  std::vector<double> medians(static_cast<std::size_t>(resamples));
  for (auto& drawn : medians) drawn = resampled.draw(rng);
  std::sort(medians.begin(), medians.end());
  // Rounded outwards; the small term keeps 2000 * 0.001 at 2.
  const double tail = (1 - confidence) / 2 * resamples;
  const auto outside = static_cast<std::size_t>(std::max(0.0, std::ceil(tail - 1e-9) - 1));
  const std::size_t low = std::min(outside, medians.size() - 1);
  return {medians[low], medians[medians.size() - 1 - low], std::min(confidence, confidence_of_extremes(values.size()))};
}

bool all_below(std::span<const double> these, std::span<const double> others, double factor, double alpha) {
  if (these.empty() || others.empty()) return false;
  if (std::ranges::max(these) * factor >= std::ranges::min(others)) return false;
  double ways = 1;  // C(n + m, n)
  for (std::size_t i = 1; i <= these.size(); ++i) {
    ways *= static_cast<double>(others.size() + i) / static_cast<double>(i);
  }
  return 1 / ways <= alpha;
}

}  // namespace kw
