// Functions of two or three operands that broadcast.

#include <array>
#include <cmath>

#include "program/stages/decomposition_table.hpp"

namespace kw {
namespace {

struct Operands {
  StageAxes frame;
  StageExpr a;
  StageExpr b;
};

/// Both in the type of the result.
Operands operands_of(const Decomposition& d, std::string_view second = "other") {
  Operands operands{d.frame(), {}, {}};
  operands.a = as_type(d.operand("input", operands.frame), d.result().dtype);
  operands.b = as_type(d.operand(second, operands.frame), d.result().dtype);
  return operands;
}

using PairFunction = StageExpr (*)(const StageExpr& a, const StageExpr& b);

template <PairFunction Function>
Result<void> of_pair(Decomposition& d) {
  const auto [frame, a, b] = operands_of(d);
  d.map(0, frame, Function(a, b));
  return {};
}

/// Compared in the type that arithmetic on them has.
template <PairFunction Function>
Result<void> comparison_of(Decomposition& d) {
  const auto frame = d.frame();
  d.map(0, frame, Function(d.operand("input", frame), d.operand("other", frame)));
  return {};
}

template <StageOp Op>
StageExpr real_pair(const StageExpr& a, const StageExpr& b) {
  return apply(Op, a, b);
}

template <StageOp Op>
StageExpr bits_of_pair(const StageExpr& a, const StageExpr& b) {
  if (a->type != StageType::truth) return apply(Op, a, b);
  if constexpr (Op == StageOp::bit_and) return both(a, b);
  if constexpr (Op == StageOp::bit_or) return either(a, b);
  return a != b;
}

/// add, sub and rsub: the operand that is scaled by alpha stands second.
Result<void> scaled_sum(Decomposition& d) {
  auto [frame, a, b] = operands_of(d);
  if (d.op() == "rsub") std::swap(a, b);
  b = as_type(d.number("alpha") * b, d.result().dtype);
  d.map(0, frame, d.op() == "add" ? a + b : a - b);
  return {};
}

StageExpr floor_quotient(const StageExpr& a, const StageExpr& b) {
  return a->type == StageType::real ? apply(StageOp::floor, a / b) : floor_divide(a, b);
}

StageExpr truncated_quotient(const StageExpr& a, const StageExpr& b) {
  if (a->type == StageType::real) return apply(StageOp::trunc, a / b);
  const auto magnitude = floor_divide(absolute(a), absolute(b));
  return select((a < 0) == (b < 0), magnitude, -magnitude);
}

/// With the sign of the divisor, as Python has it.
StageExpr python_remainder(const StageExpr& a, const StageExpr& b) {
  if (a->type != StageType::real) return floor_modulo(a, b);
  const auto rest = apply(StageOp::fmod, a, b);
  return select(both(rest != 0, (rest < 0) != (b < 0)), rest + b, rest);
}

/// With the sign of the dividend.
StageExpr c_remainder(const StageExpr& a, const StageExpr& b) {
  if (a->type == StageType::real) return apply(StageOp::fmod, a, b);
  return a - truncated_quotient(a, b) * b;
}

Result<void> division(Decomposition& d) {
  const auto [frame, a, b] = operands_of(d);
  if (!d.given("rounding_mode")) {
    d.map(0, frame, a / b);
  } else {
    d.map(0, frame, d.text("rounding_mode") == "floor" ? floor_quotient(a, b) : truncated_quotient(a, b));
  }
  return {};
}

/// Small constant powers are products and roots, as PyTorch computes them.
StageExpr power_of(const StageExpr& x, const StageExpr& exponent) {
  const bool constant =
      exponent->op == StageOp::real || (exponent->op == StageOp::integer && exponent->integer.is_constant());
  const double value = !constant                          ? 0.0
                       : exponent->op == StageOp::integer ? static_cast<double>(exponent->integer.value())
                                                          : exponent->real;
  if (constant && value == 1.0) return x;
  if (constant && value == 2.0) return x * x;
  if (constant && value == 3.0) return x * x * x;
  if (constant && value == 0.5) return apply(StageOp::sqrt, x);
  if (constant && value == -0.5) return apply(StageOp::rsqrt, x);
  if (constant && value == -1.0) return StageExpr(1.0) / x;
  return apply(StageOp::power, x, exponent);
}

Result<void> power(Decomposition& d) {
  const auto [frame, a, b] = operands_of(d, "exponent");
  d.map(0, frame, as_type(power_of(a, b), d.result().dtype));
  return {};
}

StageExpr log_add_exp(const StageExpr& a, const StageExpr& b) {
  const auto larger = maximum(a, b);
  // Two equal infinities have no difference.
  return select(a == b, a + std::log(2.0), larger + apply(StageOp::log1p, apply(StageOp::exp, -absolute(a - b))));
}

StageExpr log_add_exp2(const StageExpr& a, const StageExpr& b) {
  const auto rest = apply(StageOp::log1p, apply(StageOp::exp2, -absolute(a - b))) * (1.0 / std::log(2.0));
  return select(a == b, a + 1.0, maximum(a, b) + rest);
}

StageExpr x_log_y(const StageExpr& a, const StageExpr& b) {
  return select(both(a == 0, b == b), 0.0, a * apply(StageOp::log, b));
}

StageExpr heaviside(const StageExpr& a, const StageExpr& b) {
  return select(a == 0, b, select(a < 0, 0, 1));
}

Result<void> choose(Decomposition& d) {
  const auto [frame, a, b] = operands_of(d);
  d.map(0, frame, select(d.operand("condition", frame), a, b));
  return {};
}

Result<void> lerp(Decomposition& d) {
  const auto [frame, a, b] = operands_of(d, "end");
  d.map(0, frame, a + converted(d.operand("weight", frame), StageType::real) * (b - a));
  return {};
}

/// addcmul and addcdiv.
Result<void> fused(Decomposition& d) {
  const auto frame = d.frame();
  const auto type = d.result().dtype;
  const auto first = as_type(d.operand("tensor1", frame), type);
  const auto second = as_type(d.operand("tensor2", frame), type);
  const auto product = d.op() == "addcmul" ? first * second : first / second;
  d.map(0, frame, as_type(d.operand("input", frame), type) + as_type(d.number("value") * product, type));
  return {};
}

Result<void> masked_fill(Decomposition& d) {
  const auto frame = d.frame();
  const auto value = as_type(d.operand("value", frame), d.result().dtype);
  d.map(0, frame, select(d.operand("mask", frame), value, d.operand("input", frame)));
  return {};
}

constexpr std::array k_binary_decompositions = {
    DecompositionRow{"add", scaled_sum},
    DecompositionRow{"sub", scaled_sum},
    DecompositionRow{"rsub", scaled_sum},
    DecompositionRow{"mul", of_pair<[](const StageExpr& a, const StageExpr& b) { return a * b; }>},
    DecompositionRow{"div", division},
    DecompositionRow{"floor_divide", of_pair<floor_quotient>},
    DecompositionRow{"remainder", of_pair<python_remainder>},
    DecompositionRow{"fmod", of_pair<c_remainder>},
    DecompositionRow{"pow", power},
    DecompositionRow{"maximum", of_pair<maximum>},
    DecompositionRow{"minimum", of_pair<minimum>},
    DecompositionRow{"fmax", of_pair<real_pair<StageOp::fmax>>},
    DecompositionRow{"fmin", of_pair<real_pair<StageOp::fmin>>},
    DecompositionRow{"atan2", of_pair<real_pair<StageOp::atan2>>},
    DecompositionRow{"hypot", of_pair<real_pair<StageOp::hypot>>},
    DecompositionRow{"copysign", of_pair<real_pair<StageOp::copysign>>},
    DecompositionRow{"xlogy", of_pair<x_log_y>},
    DecompositionRow{"logaddexp", of_pair<log_add_exp>},
    DecompositionRow{"logaddexp2", of_pair<log_add_exp2>},
    DecompositionRow{"heaviside", of_pair<heaviside>},
    DecompositionRow{"eq", comparison_of<[](const StageExpr& a, const StageExpr& b) { return a == b; }>},
    DecompositionRow{"ne", comparison_of<[](const StageExpr& a, const StageExpr& b) { return a != b; }>},
    DecompositionRow{"lt", comparison_of<[](const StageExpr& a, const StageExpr& b) { return a < b; }>},
    DecompositionRow{"le", comparison_of<[](const StageExpr& a, const StageExpr& b) { return a <= b; }>},
    DecompositionRow{"gt", comparison_of<[](const StageExpr& a, const StageExpr& b) { return b < a; }>},
    DecompositionRow{"ge", comparison_of<[](const StageExpr& a, const StageExpr& b) { return b <= a; }>},
    DecompositionRow{"logical_and", comparison_of<both>},
    DecompositionRow{"logical_or", comparison_of<either>},
    DecompositionRow{"logical_xor", comparison_of<[](const StageExpr& a, const StageExpr& b) {
                       return converted(a, StageType::truth) != converted(b, StageType::truth);
                     }>},
    DecompositionRow{"bitwise_and", of_pair<bits_of_pair<StageOp::bit_and>>},
    DecompositionRow{"bitwise_or", of_pair<bits_of_pair<StageOp::bit_or>>},
    DecompositionRow{"bitwise_xor", of_pair<bits_of_pair<StageOp::bit_xor>>},
    DecompositionRow{"bitwise_left_shift", of_pair<real_pair<StageOp::shift_left>>},
    DecompositionRow{"bitwise_right_shift", of_pair<real_pair<StageOp::shift_right>>},
    DecompositionRow{"where", choose},
    DecompositionRow{"lerp", lerp},
    DecompositionRow{"addcmul", fused},
    DecompositionRow{"addcdiv", fused},
    DecompositionRow{"masked_fill", masked_fill},
};

}  // namespace

std::span<const DecompositionRow> binary_decompositions() {
  return k_binary_decompositions;
}

}  // namespace kw
