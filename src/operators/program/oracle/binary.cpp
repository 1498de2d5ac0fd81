// Functions of two numbers that broadcast.

#include <array>
#include <cmath>
#include <cstdint>

#include "operators/program/oracle/answers.hpp"
#include "operators/program/oracle/special_functions.hpp"

namespace kw::program_oracle {
namespace {

using Binary = double (*)(double, double);

Result<Answer> binary_with(const OracleCall& call, Binary function, const char* second = "other") {
  const auto extents = call.output_extents();
  return each_repeated([left = Broadcast(call.tensor("input"), extents),
                        right = Broadcast(call.tensor(second), extents),
                        function](std::int64_t i) { return function(left[i], right[i]); });
}

template <Binary function>
Result<Answer> binary(const OracleCall& call) {
  return binary_with(call, function);
}

/// input_factor * input + other_factor * other
Result<Answer> weighted_sum(const OracleCall& call, double input_factor, double other_factor) {
  const auto extents = call.output_extents();
  return each_repeated([left = Broadcast(call.tensor("input"), extents),
                        right = Broadcast(call.tensor("other"), extents), input_factor,
                        other_factor](std::int64_t i) { return input_factor * left[i] + other_factor * right[i]; });
}

Result<Answer> add(const OracleCall& call) {
  return weighted_sum(call, 1.0, call.number("alpha"));
}
Result<Answer> sub(const OracleCall& call) {
  return weighted_sum(call, 1.0, -call.number("alpha"));
}
Result<Answer> rsub(const OracleCall& call) {
  return weighted_sum(call, -call.number("alpha"), 1.0);
}

Result<Answer> div(const OracleCall& call) {
  if (!call.given("rounding_mode")) return binary_with(call, [](double a, double b) { return a / b; });
  if (call.text("rounding_mode") == "floor") return binary_with(call, floor_quotient);
  return binary_with(call, [](double a, double b) { return std::trunc(a / b); });
}

Result<Answer> power(const OracleCall& call) {
  return binary_with(
      call, [](double a, double b) { return std::pow(a, b); }, "exponent");
}

/// log(base^a + base^b)
template <double (*power_of)(double), double (*log_of)(double)>
double log_of_sum(double a, double b) {
  const double largest = larger_of(a, b);
  if (!std::isfinite(largest)) return largest;
  return largest + log_of(power_of(a - largest) + power_of(b - largest));
}

template <typename Function>
double on_integers(double a, double b, Function function) {
  return static_cast<double>(function(static_cast<std::int64_t>(a), static_cast<std::int64_t>(b)));
}

double as_truth(bool truth) {
  return truth ? 1.0 : 0.0;
}

double heaviside_of(double x, double at_zero) {
  if (std::isnan(x)) return x;
  return x == 0.0 ? at_zero : as_truth(x > 0.0);
}

constexpr std::array k_binary_answers = {
    OracleRow{"add", add},
    OracleRow{"sub", sub},
    OracleRow{"rsub", rsub},
    OracleRow{"mul", binary<[](double a, double b) { return a * b; }>},
    OracleRow{"div", div},
    OracleRow{"floor_divide", binary<floor_quotient>},
    OracleRow{"remainder", binary<floor_remainder>},
    OracleRow{"fmod", binary<[](double a, double b) { return std::fmod(a, b); }>},
    OracleRow{"pow", power},
    OracleRow{"maximum", binary<larger_of>},
    OracleRow{"minimum", binary<smaller_of>},
    OracleRow{"fmax", binary<[](double a, double b) { return std::fmax(a, b); }>},
    OracleRow{"fmin", binary<[](double a, double b) { return std::fmin(a, b); }>},
    OracleRow{"atan2", binary<[](double a, double b) { return std::atan2(a, b); }>},
    OracleRow{"hypot", binary<[](double a, double b) { return std::hypot(a, b); }>},
    OracleRow{"copysign", binary<[](double a, double b) { return std::copysign(a, b); }>},
    OracleRow{"xlogy", binary<x_log_y>},
    OracleRow{"logaddexp",
              binary<log_of_sum<[](double x) { return std::exp(x); }, [](double x) { return std::log(x); }>>},
    OracleRow{"logaddexp2",
              binary<log_of_sum<[](double x) { return std::exp2(x); }, [](double x) { return std::log2(x); }>>},
    OracleRow{"heaviside", binary<heaviside_of>},
    OracleRow{"eq", binary<[](double a, double b) { return as_truth(a == b); }>},
    OracleRow{"ne", binary<[](double a, double b) { return as_truth(a != b); }>},
    OracleRow{"lt", binary<[](double a, double b) { return as_truth(a < b); }>},
    OracleRow{"le", binary<[](double a, double b) { return as_truth(a <= b); }>},
    OracleRow{"gt", binary<[](double a, double b) { return as_truth(a > b); }>},
    OracleRow{"ge", binary<[](double a, double b) { return as_truth(a >= b); }>},
    OracleRow{"logical_and", binary<[](double a, double b) { return as_truth(a != 0.0 && b != 0.0); }>},
    OracleRow{"logical_or", binary<[](double a, double b) { return as_truth(a != 0.0 || b != 0.0); }>},
    OracleRow{"logical_xor", binary<[](double a, double b) { return as_truth((a != 0.0) != (b != 0.0)); }>},
    OracleRow{"bitwise_and", binary<[](double a, double b) {
                return on_integers(a, b, [](std::int64_t x, std::int64_t y) { return x & y; });
              }>},
    OracleRow{"bitwise_or", binary<[](double a, double b) {
                return on_integers(a, b, [](std::int64_t x, std::int64_t y) { return x | y; });
              }>},
    OracleRow{"bitwise_xor", binary<[](double a, double b) {
                return on_integers(a, b, [](std::int64_t x, std::int64_t y) { return x ^ y; });
              }>},
    OracleRow{"bitwise_left_shift", binary<[](double a, double b) { return a * std::exp2(b); }>},
    OracleRow{"bitwise_right_shift", binary<[](double a, double b) { return std::floor(a * std::exp2(-b)); }>},
};

}  // namespace

std::span<const OracleRow> binary_answers() {
  return k_binary_answers;
}

}  // namespace kw::program_oracle
