// Functions of one element.

#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "program/stages/decomposition_table.hpp"

namespace kw {
namespace {

constexpr double k_infinity = std::numeric_limits<double>::infinity();

/// One element from the element of "input", which is a real where the result is one.
using ElementFunction = StageExpr (*)(const StageExpr& x);

template <ElementFunction Function>
Result<void> of_element(Decomposition& d) {
  const auto frame = d.frame();
  auto x = read(d.tensor("input"), frame);
  if (is_floating(d.result().dtype)) x = converted(x, StageType::real);
  d.map(0, frame, Function(x));
  return {};
}

template <StageOp Op>
StageExpr function_of(const StageExpr& x) {
  return apply(Op, x);
}

/// What rounds to integers leaves integers as they are.
template <StageOp Op>
StageExpr rounding_of(const StageExpr& x) {
  return x->type == StageType::real ? apply(Op, x) : x;
}

StageExpr sign_of(const StageExpr& x) {
  return select(x > 0, 1, select(x < 0, -1, x));
}

StageExpr sinc_of(const StageExpr& x) {
  const auto angle = x * std::numbers::pi;
  return select(x == 0, 1.0, apply(StageOp::sin, angle) / angle);
}

StageExpr is_nan(const StageExpr& x) {
  return x != x;
}

StageExpr is_infinite(const StageExpr& x) {
  return absolute(x) == k_infinity;
}

StageExpr is_finite(const StageExpr& x) {
  return absolute(x) < k_infinity;
}

StageExpr bit_not_of(const StageExpr& x) {
  return x->type == StageType::truth ? negation(x) : apply(StageOp::bit_not, x);
}

/// abs of integers too.
StageExpr magnitude_of(const StageExpr& x) {
  return absolute(x);
}

Result<void> logit(Decomposition& d) {
  const auto frame = d.frame();
  auto x = converted(read(d.tensor("input"), frame), StageType::real);
  if (d.given("eps")) x = minimum(maximum(x, d.real("eps")), 1.0 - d.real("eps"));
  d.map(0, frame, apply(StageOp::log, x / (StageExpr(1.0) - x)));
  return {};
}

Result<void> round_to(Decomposition& d) {
  const auto frame = d.frame();
  const auto x = read(d.tensor("input"), frame);
  const auto decimals = d.integer("decimals").value();
  const StageExpr scale = std::pow(10.0, static_cast<double>(std::abs(decimals)));
  if (decimals == 0 || x->type != StageType::real) {
    d.map(0, frame, rounding_of<StageOp::round>(x));
  } else if (decimals > 0) {
    d.map(0, frame, apply(StageOp::round, x * scale) / scale);
  } else {
    d.map(0, frame, apply(StageOp::round, x / scale) * scale);
  }
  return {};
}

/// clamp, clamp_min and clamp_max: the upper bound wins where they cross.
Result<void> clamp(Decomposition& d) {
  const auto frame = d.frame();
  auto x = as_type(read(d.tensor("input"), frame), d.result().dtype);
  if (d.given("min")) x = maximum(x, as_type(d.operand("min", frame), d.result().dtype));
  if (d.given("max")) x = minimum(x, as_type(d.operand("max", frame), d.result().dtype));
  d.map(0, frame, x);
  return {};
}

Result<void> nan_to_num(Decomposition& d) {
  const auto frame = d.frame();
  const auto x = read(d.tensor("input"), frame);
  if (x->type != StageType::real) {
    d.map(0, frame, x);
    return {};
  }
  constexpr double k_largest = std::numeric_limits<float>::max();
  const double above = d.given("posinf") ? d.real("posinf") : k_largest;
  const double below = d.given("neginf") ? d.real("neginf") : -k_largest;
  d.map(0, frame, select(x != x, d.real("nan"), select(x == k_infinity, above, select(x == -k_infinity, below, x))));
  return {};
}

constexpr std::array k_elementwise_decompositions = {
    DecompositionRow{"abs", of_element<magnitude_of>},
    DecompositionRow{"neg", of_element<[](const StageExpr& x) { return -x; }>},
    DecompositionRow{"sign", of_element<sign_of>},
    DecompositionRow{"square", of_element<[](const StageExpr& x) { return x * x; }>},
    DecompositionRow{"floor", of_element<rounding_of<StageOp::floor>>},
    DecompositionRow{"ceil", of_element<rounding_of<StageOp::ceil>>},
    DecompositionRow{"trunc", of_element<rounding_of<StageOp::trunc>>},
    DecompositionRow{"frac", of_element<[](const StageExpr& x) { return x - apply(StageOp::trunc, x); }>},
    DecompositionRow{"round", round_to},
    DecompositionRow{"exp", of_element<function_of<StageOp::exp>>},
    DecompositionRow{"exp2", of_element<function_of<StageOp::exp2>>},
    DecompositionRow{"expm1", of_element<function_of<StageOp::expm1>>},
    DecompositionRow{"log", of_element<function_of<StageOp::log>>},
    DecompositionRow{"log2", of_element<function_of<StageOp::log2>>},
    DecompositionRow{"log10", of_element<function_of<StageOp::log10>>},
    DecompositionRow{"log1p", of_element<function_of<StageOp::log1p>>},
    DecompositionRow{"sqrt", of_element<function_of<StageOp::sqrt>>},
    DecompositionRow{"rsqrt", of_element<function_of<StageOp::rsqrt>>},
    DecompositionRow{"reciprocal", of_element<[](const StageExpr& x) { return StageExpr(1.0) / x; }>},
    DecompositionRow{"sin", of_element<function_of<StageOp::sin>>},
    DecompositionRow{"cos", of_element<function_of<StageOp::cos>>},
    DecompositionRow{"tan", of_element<function_of<StageOp::tan>>},
    DecompositionRow{"asin", of_element<function_of<StageOp::asin>>},
    DecompositionRow{"acos", of_element<function_of<StageOp::acos>>},
    DecompositionRow{"atan", of_element<function_of<StageOp::atan>>},
    DecompositionRow{"sinh", of_element<function_of<StageOp::sinh>>},
    DecompositionRow{"cosh", of_element<function_of<StageOp::cosh>>},
    DecompositionRow{"asinh", of_element<function_of<StageOp::asinh>>},
    DecompositionRow{"acosh", of_element<function_of<StageOp::acosh>>},
    DecompositionRow{"atanh", of_element<function_of<StageOp::atanh>>},
    DecompositionRow{"erf", of_element<function_of<StageOp::erf>>},
    DecompositionRow{"erfc", of_element<function_of<StageOp::erfc>>},
    DecompositionRow{"lgamma", of_element<function_of<StageOp::lgamma>>},
    DecompositionRow{"sinc", of_element<sinc_of>},
    DecompositionRow{"logit", logit},
    DecompositionRow{"deg2rad", of_element<[](const StageExpr& x) { return x * (std::numbers::pi / 180.0); }>},
    DecompositionRow{"rad2deg", of_element<[](const StageExpr& x) { return x * (180.0 / std::numbers::pi); }>},
    DecompositionRow{"isnan", of_element<is_nan>},
    DecompositionRow{"isinf", of_element<is_infinite>},
    DecompositionRow{"isfinite", of_element<is_finite>},
    DecompositionRow{"logical_not", of_element<[](const StageExpr& x) { return negation(x); }>},
    DecompositionRow{"bitwise_not", of_element<bit_not_of>},
    DecompositionRow{"clamp", clamp},
    DecompositionRow{"clamp_min", clamp},
    DecompositionRow{"clamp_max", clamp},
    DecompositionRow{"nan_to_num", nan_to_num},
};

}  // namespace

std::span<const DecompositionRow> elementwise_decompositions() {
  return k_elementwise_decompositions;
}

}  // namespace kw
