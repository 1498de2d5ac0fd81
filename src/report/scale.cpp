#include "report/scale.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>

namespace kw {

double AxisScale::operator()(double value) const {
  const double position = logarithmic ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
  return at_low + (std::isnan(position) ? 0.0 : std::clamp(position, 0.0, 1.0)) * (at_high - at_low);
}

std::vector<double> linear_ticks(double high, int wanted) {
  const double rough = high / std::max(wanted, 1);
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double round : {5.0, 2.0, 1.0}) {
    if (round * power >= rough) step = round * power;
  }
  std::vector<double> ticks;
  for (int i = 0; i * step <= high * 1.000001; ++i) ticks.push_back(i * step);
  return ticks;
}

namespace {

std::vector<double> within(double low, double high, std::initializer_list<double> multiples) {
  std::vector<double> ticks;
  for (double power = std::pow(10.0, std::floor(std::log10(low))); power <= high; power *= 10) {
    for (const double multiple : multiples) {
      const double tick = multiple * power;
      if (tick >= low && tick <= high) ticks.push_back(tick);
    }
  }
  return ticks;
}

}  // namespace

std::vector<double> logarithmic_ticks(double low, double high) {
  auto ticks = within(low, high, {1});
  if (ticks.size() < 3) ticks = within(low, high, {1, 2, 5});
  if (ticks.size() < 3) ticks = within(low, high, {1, 1.5, 2, 3, 4, 5, 6, 8});
  return ticks;
}

}  // namespace kw
