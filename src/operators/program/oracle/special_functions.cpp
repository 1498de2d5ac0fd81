#include "operators/program/oracle/special_functions.hpp"

#include <cmath>
#include <limits>
#include <numbers>

namespace kw::program_oracle {

double digamma(double x) {
  if (x == 0.0) return std::copysign(std::numeric_limits<double>::infinity(), -x);
  if (x < 0.0) {
    if (x == std::floor(x)) return std::numeric_limits<double>::quiet_NaN();
    // Reflection: digamma(1 - x) - digamma(x) = pi / tan(pi x).
    return digamma(1.0 - x) - std::numbers::pi / std::tan(std::numbers::pi * (x - std::floor(x)));
  }
  double sum = 0.0;
  for (; x < 12.0; x += 1.0) sum -= 1.0 / x;
  const double y = 1.0 / (x * x);
  // The asymptotic series with Bernoulli's numbers.
  const double series =
      y * (1.0 / 12 - y * (1.0 / 120 - y * (1.0 / 252 - y * (1.0 / 240 - y * (1.0 / 132 - y * 691.0 / 32760)))));
  return sum + std::log(x) - 0.5 / x - series;
}

double erf_inverse(double y) {
  if (std::isnan(y) || std::fabs(y) > 1.0) return std::numeric_limits<double>::quiet_NaN();
  if (std::fabs(y) == 1.0) return std::copysign(std::numeric_limits<double>::infinity(), y);
  if (y == 0.0) return y;
  // A rough start, then Newton's steps on erfc, which keeps its digits where erf is next to 1.
  const double rest = 1.0 - std::fabs(y);
  const double logarithm = std::log(rest * (1.0 + std::fabs(y)));
  const double a = 2.0 / (std::numbers::pi * 0.147) + logarithm / 2.0;
  double x = std::sqrt(std::sqrt(a * a - logarithm / 0.147) - a);
  for (int step = 0; step < 6; ++step) {
    const double error = std::fabs(y) < 0.5 ? std::erf(x) - std::fabs(y) : rest - std::erfc(x);
    x -= error * std::sqrt(std::numbers::pi) / 2.0 * std::exp(x * x);
  }
  return std::copysign(x, y);
}

double log_one_plus_exp(double x) {
  return x > 0.0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
}

double x_log_y(double x, double y) {
  if (std::isnan(y)) return y;
  return x == 0.0 ? 0.0 : x * std::log(y);
}

double floor_quotient(double a, double b) {
  if (b == 0.0) return a / b;
  const double rest = std::fmod(a, b);
  double quotient = (a - rest) / b;
  if (rest != 0.0 && (b < 0.0) != (rest < 0.0)) quotient -= 1.0;
  if (quotient == 0.0) return std::copysign(0.0, a / b);
  const double whole = std::floor(quotient);
  return quotient - whole > 0.5 ? whole + 1.0 : whole;
}

double floor_remainder(double a, double b) {
  const double rest = std::fmod(a, b);
  return rest != 0.0 && (b < 0.0) != (rest < 0.0) ? rest + b : rest;
}

double larger_of(double a, double b) {
  if (std::isnan(a)) return a;
  return b > a || std::isnan(b) ? b : a;
}

double smaller_of(double a, double b) {
  if (std::isnan(a)) return a;
  return b < a || std::isnan(b) ? b : a;
}

}  // namespace kw::program_oracle
