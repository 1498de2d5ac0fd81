#pragma once
// What Python and PyTorch mean by the operations on single values where C++ means something else. Values of all three
// types are held in a double: booleans as 0 and 1, integers exactly (they have 32 bits). Which operation of a mod is
// which of these is mod_semantics.hpp's table.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace kw::semantics {

/// 32-bit wrap-around, as PyTorch's int32 tensors do it.
inline double wrap(std::int64_t value) {
  return static_cast<double>(static_cast<std::int32_t>(static_cast<std::uint32_t>(value)));
}
inline std::int64_t as_integer(double value) {
  return static_cast<std::int64_t>(value);
}
inline std::uint32_t as_bits(double value) {
  return static_cast<std::uint32_t>(as_integer(value));
}

/// Python's float `%`: the remainder has the sign of b.
inline double real_modulo(double a, double b) {
  const double remainder = std::fmod(a, b);
  return remainder != 0.0 && (remainder < 0.0) != (b < 0.0) ? remainder + b : remainder;
}
/// Python's float `//`, which is not always floor(a / b): 7.0 // 0.1 is 69.
inline double real_floor_divide(double a, double b) {
  if (b == 0.0) return a / b;
  const double remainder = std::fmod(a, b);
  double quotient = (a - remainder) / b;
  if (remainder != 0.0 && (remainder < 0.0) != (b < 0.0)) quotient -= 1.0;
  if (quotient == 0.0 || !std::isfinite(quotient)) return quotient;
  const double floored = std::floor(quotient);
  return quotient - floored > 0.5 ? floored + 1.0 : floored;
}
/// Division of integers by zero is undefined in kernels; the reference answers 0 so that it is at least repeatable.
inline double integer_floor_divide(double a, double b) {
  return b == 0.0 ? 0.0 : wrap(as_integer(std::floor(a / b)));
}
inline double integer_modulo(double a, double b) {
  return b == 0.0 ? 0.0 : a - b * std::floor(a / b);
}
inline double shift_left(double a, double b) {
  return b < 0.0 || b > 31.0 ? 0.0 : wrap(static_cast<std::int64_t>(as_bits(a)) << as_integer(b));
}
inline double shift_right(double a, double b) {
  return static_cast<double>(as_integer(a) >> (b < 0.0 || b > 31.0 ? 31 : as_integer(b)));
}
inline double minimum(double a, double b) {
  if (std::isnan(a)) return a;
  return a < b ? a : b;
}
inline double maximum(double a, double b) {
  if (std::isnan(a)) return a;
  return a > b ? a : b;
}
inline double to_integer(double a) {
  if (std::isnan(a)) return 0.0;
  constexpr double low = std::numeric_limits<std::int32_t>::min();
  constexpr double high = std::numeric_limits<std::int32_t>::max();
  return std::clamp(std::trunc(a), low, high);
}
/// Whatever the processor's rounding mode is.
inline double round_half_even(double a) {
  const double floored = std::floor(a);
  const double part = a - floored;  // exact
  if (part != 0.5) return part < 0.5 ? floored : std::ceil(a);
  return std::fmod(floored, 2.0) == 0.0 ? floored : std::ceil(a);
}
inline double truth(bool value) {
  return value ? 1.0 : 0.0;
}

}  // namespace kw::semantics
