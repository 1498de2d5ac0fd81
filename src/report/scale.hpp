#pragma once
// Where values and tick marks fall on an axis.

#include <vector>

namespace kw {

/// From a range of values to a range of drawing units; logarithmic when asked, and then the range is positive.
struct AxisScale {
  double low = 0, high = 1;        ///< values; low < high
  double at_low = 0, at_high = 1;  ///< drawing units
  bool logarithmic = false;
  /// Values outside the range, and undefined ones, fall on its ends.
  [[nodiscard]] double operator()(double value) const;
};

/// Round values (1, 2 or 5 times a power of ten) from 0 to `high`, about `wanted` of them.
[[nodiscard]] std::vector<double> linear_ticks(double high, int wanted);

/// Round values within [low, high]: the decades, with 2 and 5 where decades alone would be fewer than three.
[[nodiscard]] std::vector<double> logarithmic_ticks(double low, double high);

}  // namespace kw
