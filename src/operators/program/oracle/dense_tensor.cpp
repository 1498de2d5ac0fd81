#include "operators/program/oracle/dense_tensor.hpp"

#include <cmath>

namespace kw {

double held_as(ElementType type, double value) {
  if (is_floating(type)) return value;
  if (type == ElementType::boolean) return value != 0.0 ? 1.0 : 0.0;
  if (!std::isfinite(value)) return value;
  const double whole = std::trunc(value);
  if (type == ElementType::int64) return whole;
  const double values = std::ldexp(1.0, static_cast<int>(8 * bytes_per_element(type)));
  const double least = type == ElementType::uint8 ? 0.0 : -values / 2;
  if (whole >= least && whole < least + values) return whole;
  return whole - values * std::floor((whole - least) / values);
}

}  // namespace kw
