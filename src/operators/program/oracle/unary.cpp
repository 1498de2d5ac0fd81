// Functions of one number.

#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "operators/program/oracle/answers.hpp"
#include "operators/program/oracle/special_functions.hpp"

namespace kw::program_oracle {
namespace {

using Unary = double (*)(double);

template <Unary function>
Result<Answer> unary(const OracleCall& call) {
  return each_in_place([input = call.tensor("input")](std::int64_t i) { return function(input[i]); });
}

/// Half to even, as PyTorch rounds. With decimals it scales by a power of ten first.
Result<Answer> rounded(const OracleCall& call) {
  const auto decimals = call.integer("decimals");
  const double scale = std::pow(10.0, static_cast<double>(std::abs(decimals)));
  return each_in_place([input = call.tensor("input"), decimals, scale](std::int64_t i) {
    const double x = input[i];
    if (decimals == 0) return std::nearbyint(x);
    return decimals > 0 ? std::nearbyint(x * scale) / scale : std::nearbyint(x / scale) * scale;
  });
}

Result<Answer> logit(const OracleCall& call) {
  const bool bounded = call.given("eps");
  const double eps = call.number_or("eps", 0.0);
  return each_in_place([input = call.tensor("input"), bounded, eps](std::int64_t i) {
    double p = input[i];
    if (bounded) p = smaller_of(larger_of(p, eps), 1.0 - eps);
    return std::log(p / (1.0 - p));
  });
}

Result<Answer> bitwise_not(const OracleCall& call) {
  const bool boolean = call.output_type() == ElementType::boolean;
  return each_in_place(
      [input = call.tensor("input"), boolean](std::int64_t i) { return boolean ? 1.0 - input[i] : -input[i] - 1.0; });
}

/// First the lower bound, then the upper one, which wins where they cross.
Result<Answer> clamp(const OracleCall& call) {
  const auto extents = call.output_extents();
  const auto bound = [&](const char* name, double otherwise) {
    const bool present = call.given(name);
    return Broadcast(present ? call.tensor(name) : Operand::number(ElementType::float64, otherwise), extents);
  };
  constexpr double k_infinity = std::numeric_limits<double>::infinity();
  return each_repeated(
      [input = Broadcast(call.tensor("input"), extents), least = bound("min", -k_infinity),
       most = bound("max", k_infinity)](std::int64_t i) { return smaller_of(larger_of(input[i], least[i]), most[i]); });
}

double largest_finite(ElementType type) {
  if (type == ElementType::float16) return 65504.0;
  if (type == ElementType::bfloat16) return std::ldexp(255.0, 120);
  if (type == ElementType::float32) return static_cast<double>(std::numeric_limits<float>::max());
  return std::numeric_limits<double>::max();
}

Result<Answer> nan_to_num(const OracleCall& call) {
  const double most = largest_finite(call.output_type());
  return each_in_place([input = call.tensor("input"), nan = call.number("nan"), above = call.number_or("posinf", most),
                        below = call.number_or("neginf", -most)](std::int64_t i) {
    const double x = input[i];
    if (std::isnan(x)) return nan;
    return std::isinf(x) ? (x > 0.0 ? above : below) : x;
  });
}

double sign_of(double x) {
  if (std::isnan(x)) return x;
  return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : 0.0;
}

double sinc(double x) {
  return x == 0.0 ? 1.0 : std::sin(std::numbers::pi * x) / (std::numbers::pi * x);
}

constexpr double k_degrees = 180.0 / std::numbers::pi;

constexpr std::array k_unary_answers = {
    OracleRow{"abs", unary<[](double x) { return std::fabs(x); }>},
    OracleRow{"neg", unary<[](double x) { return -x; }>},
    OracleRow{"sign", unary<sign_of>},
    OracleRow{"floor", unary<[](double x) { return std::floor(x); }>},
    OracleRow{"ceil", unary<[](double x) { return std::ceil(x); }>},
    OracleRow{"round", rounded},
    OracleRow{"trunc", unary<[](double x) { return std::trunc(x); }>},
    OracleRow{"frac", unary<[](double x) { return x - std::trunc(x); }>},
    OracleRow{"square", unary<[](double x) { return x * x; }>},
    OracleRow{"clone", unary<[](double x) { return x; }>},
    OracleRow{"contiguous", unary<[](double x) { return x; }>},
    OracleRow{"exp", unary<[](double x) { return std::exp(x); }>},
    OracleRow{"exp2", unary<[](double x) { return std::exp2(x); }>},
    OracleRow{"expm1", unary<[](double x) { return std::expm1(x); }>},
    OracleRow{"log", unary<[](double x) { return std::log(x); }>},
    OracleRow{"log2", unary<[](double x) { return std::log2(x); }>},
    OracleRow{"log10", unary<[](double x) { return std::log10(x); }>},
    OracleRow{"log1p", unary<[](double x) { return std::log1p(x); }>},
    OracleRow{"sqrt", unary<[](double x) { return std::sqrt(x); }>},
    OracleRow{"rsqrt", unary<[](double x) { return 1.0 / std::sqrt(x); }>},
    OracleRow{"reciprocal", unary<[](double x) { return 1.0 / x; }>},
    OracleRow{"sin", unary<[](double x) { return std::sin(x); }>},
    OracleRow{"cos", unary<[](double x) { return std::cos(x); }>},
    OracleRow{"tan", unary<[](double x) { return std::tan(x); }>},
    OracleRow{"asin", unary<[](double x) { return std::asin(x); }>},
    OracleRow{"acos", unary<[](double x) { return std::acos(x); }>},
    OracleRow{"atan", unary<[](double x) { return std::atan(x); }>},
    OracleRow{"sinh", unary<[](double x) { return std::sinh(x); }>},
    OracleRow{"cosh", unary<[](double x) { return std::cosh(x); }>},
    OracleRow{"asinh", unary<[](double x) { return std::asinh(x); }>},
    OracleRow{"acosh", unary<[](double x) { return std::acosh(x); }>},
    OracleRow{"atanh", unary<[](double x) { return std::atanh(x); }>},
    OracleRow{"erf", unary<[](double x) { return std::erf(x); }>},
    OracleRow{"erfc", unary<[](double x) { return std::erfc(x); }>},
    OracleRow{"erfinv", unary<erf_inverse>},
    OracleRow{"lgamma", unary<[](double x) {
                int sign = 0;
                return lgamma_r(x, &sign);  // std::lgamma writes a global
              }>},
    OracleRow{"digamma", unary<digamma>},
    OracleRow{"sinc", unary<sinc>},
    OracleRow{"logit", logit},
    OracleRow{"deg2rad", unary<[](double x) { return x / k_degrees; }>},
    OracleRow{"rad2deg", unary<[](double x) { return x * k_degrees; }>},
    OracleRow{"isnan", unary<[](double x) { return std::isnan(x) ? 1.0 : 0.0; }>},
    OracleRow{"isinf", unary<[](double x) { return std::isinf(x) ? 1.0 : 0.0; }>},
    OracleRow{"isfinite", unary<[](double x) { return std::isfinite(x) ? 1.0 : 0.0; }>},
    OracleRow{"logical_not", unary<[](double x) { return x == 0.0 ? 1.0 : 0.0; }>},
    OracleRow{"bitwise_not", bitwise_not},
    OracleRow{"clamp", clamp},
    OracleRow{"clamp_min", [](const OracleCall& call) -> Result<Answer> {
                const auto extents = call.output_extents();
                return each_repeated([input = call.tensor("input"), least = Broadcast(call.tensor("min"), extents)](
                                        std::int64_t i) { return larger_of(input[i], least[i]); });
              }},
    OracleRow{"clamp_max", [](const OracleCall& call) -> Result<Answer> {
                const auto extents = call.output_extents();
                return each_repeated([input = call.tensor("input"), most = Broadcast(call.tensor("max"), extents)](
                                        std::int64_t i) { return smaller_of(input[i], most[i]); });
              }},
    OracleRow{"nan_to_num", nan_to_num},
    OracleRow{"to", unary<[](double x) { return x; }>},  // the type of the result does it
};

}  // namespace

std::span<const OracleRow> unary_answers() {
  return k_unary_answers;
}

}  // namespace kw::program_oracle
