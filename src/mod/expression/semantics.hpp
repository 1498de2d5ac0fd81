#pragma once
// What every ExprOp computes, once: the reference evaluator, the row evaluator and the constant folder all come here.
// Values are held as mod_arithmetic.hpp says.

#include <cmath>

#include "mod/expression/arithmetic.hpp"
#include "mod/expression/expr.hpp"

namespace kw::semantics {

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
    case ExprOp::sin:
      return use([](double a, double, double) { return std::sin(a); });
    case ExprOp::cos:
      return use([](double a, double, double) { return std::cos(a); });
    case ExprOp::round:
      return use([](double a, double, double) { return round_half_even(a); });
    case ExprOp::fmod:
      return use([](double a, double b, double) { return std::fmod(a, b); });
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
