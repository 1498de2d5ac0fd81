#pragma once
// What every ExprOp computes, once: the reference evaluator, the row evaluator and the constant folder all come here.
// Values of all three types are held in a double: booleans as 0 and 1, integers exactly (they have 32 bits).

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "spec/mod_expr.hpp"

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
inline double truth(bool value) {
  return value ? 1.0 : 0.0;
}

/// Calls use(f) with f(a, b, c), the function that an operation computes on operands of `type` (the node's type;
/// comparisons and conversions do not depend on it). Operands an operation lacks are ignored. Leaves, axes and captured
/// tensors are the caller's: for them use() is given a function that returns its first operand.
template <typename Use>
auto with_function(ExprOp op, ScalarType type, Use&& use) {  // NOLINT(readability-function-size): a table
  const bool real = type == ScalarType::real;
  const bool boolean = type == ScalarType::boolean;
  switch (op) {
    case ExprOp::constant:
    case ExprOp::score:
    case ExprOp::batch:
    case ExprOp::head:
    case ExprOp::query:
    case ExprOp::key:
    case ExprOp::axis:
    case ExprOp::to_real:
    case ExprOp::gather:
    case ExprOp::lower_bound:
    case ExprOp::upper_bound:
      break;
    case ExprOp::add:
      if (real) return use([](double a, double b, double) { return a + b; });
      return use([](double a, double b, double) { return wrap(as_integer(a + b)); });
    case ExprOp::subtract:
      if (real) return use([](double a, double b, double) { return a - b; });
      return use([](double a, double b, double) { return wrap(as_integer(a - b)); });
    case ExprOp::multiply:
      if (real) return use([](double a, double b, double) { return a * b; });
      return use([](double a, double b, double) { return wrap(as_integer(a) * as_integer(b)); });
    case ExprOp::divide:
      return use([](double a, double b, double) { return a / b; });
    case ExprOp::floor_divide:
      if (real) return use([](double a, double b, double) { return real_floor_divide(a, b); });
      return use([](double a, double b, double) { return integer_floor_divide(a, b); });
    case ExprOp::modulo:
      if (real) return use([](double a, double b, double) { return real_modulo(a, b); });
      return use([](double a, double b, double) { return integer_modulo(a, b); });
    case ExprOp::power:
      return use([](double a, double b, double) { return std::pow(a, b); });
    case ExprOp::negate:
      if (real) return use([](double a, double, double) { return -a; });
      return use([](double a, double, double) { return wrap(-as_integer(a)); });
    case ExprOp::minimum:
      return use([](double a, double b, double) { return minimum(a, b); });
    case ExprOp::maximum:
      return use([](double a, double b, double) { return maximum(a, b); });
    case ExprOp::absolute:
      if (real) return use([](double a, double, double) { return std::fabs(a); });
      return use([](double a, double, double) { return wrap(as_integer(std::fabs(a))); });
    case ExprOp::bit_and:
      return use([](double a, double b, double) { return wrap(as_bits(a) & as_bits(b)); });
    case ExprOp::bit_or:
      return use([](double a, double b, double) { return wrap(as_bits(a) | as_bits(b)); });
    case ExprOp::bit_xor:
      return use([](double a, double b, double) { return wrap(as_bits(a) ^ as_bits(b)); });
    case ExprOp::bit_not:
      if (boolean) return use([](double a, double, double) { return 1.0 - a; });
      return use([](double a, double, double) { return -1.0 - a; });
    case ExprOp::shift_left:
      return use([](double a, double b, double) { return shift_left(a, b); });
    case ExprOp::shift_right:
      return use([](double a, double b, double) { return shift_right(a, b); });
    case ExprOp::less:
      return use([](double a, double b, double) { return truth(a < b); });
    case ExprOp::less_equal:
      return use([](double a, double b, double) { return truth(a <= b); });
    case ExprOp::greater:
      return use([](double a, double b, double) { return truth(a > b); });
    case ExprOp::greater_equal:
      return use([](double a, double b, double) { return truth(a >= b); });
    case ExprOp::equal:
      return use([](double a, double b, double) { return truth(a == b); });
    case ExprOp::not_equal:
      return use([](double a, double b, double) { return truth(a != b); });
    case ExprOp::select:
      return use([](double a, double b, double c) { return a != 0.0 ? b : c; });
    case ExprOp::exp:
      return use([](double a, double, double) { return std::exp(a); });
    case ExprOp::exp2:
      return use([](double a, double, double) { return std::exp2(a); });
    case ExprOp::log:
      return use([](double a, double, double) { return std::log(a); });
    case ExprOp::log2:
      return use([](double a, double, double) { return std::log2(a); });
    case ExprOp::tanh:
      return use([](double a, double, double) { return std::tanh(a); });
    case ExprOp::sigmoid:
      return use([](double a, double, double) { return 1.0 / (1.0 + std::exp(-a)); });
    case ExprOp::sqrt:
      return use([](double a, double, double) { return std::sqrt(a); });
    case ExprOp::rsqrt:
      return use([](double a, double, double) { return 1.0 / std::sqrt(a); });
    case ExprOp::floor:
      return use([](double a, double, double) { return std::floor(a); });
    case ExprOp::erf:
      return use([](double a, double, double) { return std::erf(a); });
    case ExprOp::to_integer:
      return use([](double a, double, double) { return to_integer(a); });
    case ExprOp::to_boolean:
      return use([](double a, double, double) { return truth(a != 0.0); });
  }
  return use([](double a, double, double) { return a; });
}

/// One value; operands an operation lacks are ignored.
inline double apply(ExprOp op, ScalarType type, double a, double b = 0.0, double c = 0.0) {
  return with_function(op, type, [&](auto function) { return function(a, b, c); });
}

}  // namespace kw::semantics
