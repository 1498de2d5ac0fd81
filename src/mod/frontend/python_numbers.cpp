#include "mod/frontend/python_numbers.hpp"

#include <cmath>
#include <optional>
#include <string>

#include "base/checked.hpp"
#include "mod/expression/arithmetic.hpp"
#include "mod/frontend/parser.hpp"

namespace kw {
namespace {

tl::unexpected<Error> python_type_error(const SourcePlace& where, std::string message, std::string hint = {}) {
  return fail(Error{errc::mod_type, std::move(message), std::move(hint), where});
}

bool is_float(const ModValue& value) {
  return value.as<double>() != nullptr;
}

std::int64_t integer_of(const ModValue& value) {
  if (const auto* flag = value.as<bool>()) return *flag ? 1 : 0;
  return *value.as<std::int64_t>();
}

Result<ModValue> boxed(std::optional<std::int64_t> value, const SourcePlace& where) {
  if (value) return ModValue{*value};
  return fail(Error{errc::mod_limit, "this integer leaves 64 bits", "compute with floats", where});
}

std::optional<std::int64_t> integer_power(std::int64_t base, std::int64_t exponent) {
  std::optional<std::int64_t> result = 1;
  if (base == 0 || base == 1) return exponent == 0 ? 1 : base;
  if (base == -1) return exponent % 2 == 0 ? 1 : -1;
  for (; exponent > 0 && result; --exponent) result = checked_mul(*result, base);  // at most 63 turns
  return result;
}

std::optional<std::int64_t> shifted_left(std::int64_t value, std::int64_t count) {
  if (value == 0) return 0;
  if (count > 62) return std::nullopt;
  return checked_mul(value, std::int64_t{1} << count);
}

Result<ModValue> float_binary(std::string_view op, double a, double b, const SourcePlace& where) {
  if (op == "+") return ModValue{a + b};
  if (op == "-") return ModValue{a - b};
  if (op == "*") return ModValue{a * b};
  const bool divides = op == "/" || op == "//" || op == "%";
  if (divides && b == 0.0) return python_type_error(where, "division by zero");
  if (op == "/") return ModValue{a / b};
  if (op == "//") return ModValue{semantics::real_floor_divide(a, b)};
  if (op == "%") return ModValue{semantics::real_modulo(a, b)};
  if (op == "**") {
    if (a == 0.0 && b < 0.0) return python_type_error(where, "0.0 cannot be raised to a negative power");
    if (a < 0.0 && std::isfinite(a) && std::isfinite(b) && std::floor(b) != b) {
      return python_type_error(where, "a negative number raised to a fraction is complex");
    }
    return ModValue{std::pow(a, b)};
  }
  return python_type_error(where, fmt::format("'{}' does not apply to floats", op), "convert with int(...)");
}

Result<ModValue> bit_binary(std::string_view op, const ModValue& left, const ModValue& right) {
  const auto a = integer_of(left);
  const auto b = integer_of(right);
  const auto result = op == "&" ? (a & b) : op == "|" ? (a | b) : (a ^ b);
  if (left.as<bool>() != nullptr && right.as<bool>() != nullptr) return ModValue{result != 0};
  return ModValue{result};
}

Result<ModValue> integer_binary(std::string_view op, std::int64_t a, std::int64_t b, const SourcePlace& where) {
  if (op == "+") return boxed(checked_add(a, b), where);
  if (op == "-") return boxed(checked_sub(a, b), where);
  if (op == "*") return boxed(checked_mul(a, b), where);
  const bool divides = op == "/" || op == "//" || op == "%";
  if (divides && b == 0) return python_type_error(where, "division by zero");
  if (op == "/") return ModValue{static_cast<double>(a) / static_cast<double>(b)};
  if (op == "//") return b == -1 ? boxed(checked_sub(0, a), where) : ModValue{floor_div(a, b)};
  if (op == "%") return b == -1 ? ModValue{std::int64_t{0}} : ModValue{floor_mod(a, b)};
  if (op == "**") {
    if (b < 0) return float_binary(op, static_cast<double>(a), static_cast<double>(b), where);
    return boxed(integer_power(a, b), where);
  }
  if (b < 0) return python_type_error(where, "a shift by a negative count");
  if (op == "<<") return boxed(shifted_left(a, b), where);
  return ModValue{a >> (b > 63 ? 63 : b)};
}

template <typename T>
bool compare(std::string_view op, T a, T b) {
  if (op == "<") return a < b;
  if (op == "<=") return a <= b;
  if (op == ">") return a > b;
  if (op == ">=") return a >= b;
  return (op == "==") == (a == b);
}

bool is_comparison(std::string_view op) {
  return op == "<" || op == "<=" || op == ">" || op == ">=" || op == "==" || op == "!=";
}

}  // namespace

double python_float(const ModValue& number) {
  if (const auto* real = number.as<double>()) return *real;
  return static_cast<double>(integer_of(number));
}

bool python_truth(const ModValue& number) {
  return python_float(number) != 0.0;
}

Result<ModValue> python_binary(std::string_view op, const ModValue& left, const ModValue& right,
                               const SourcePlace& where) {
  const bool floats = is_float(left) || is_float(right);
  if (is_comparison(op)) {
    return ModValue{floats ? compare(op, python_float(left), python_float(right))
                           : compare(op, integer_of(left), integer_of(right))};
  }
  if (floats) return float_binary(op, python_float(left), python_float(right), where);
  if (op == "&" || op == "|" || op == "^") return bit_binary(op, left, right);
  return integer_binary(op, integer_of(left), integer_of(right), where);
}

Result<ModValue> python_unary(std::string_view op, const ModValue& operand, const SourcePlace& where) {
  if (is_float(operand)) {
    const double value = python_float(operand);
    if (op == "~") return python_type_error(where, "'~' does not apply to floats");
    return ModValue{op == "-" ? -value : value};
  }
  const auto value = integer_of(operand);
  if (op == "-") return boxed(checked_sub(0, value), where);
  if (op == "~") {
    if (operand.as<bool>() == nullptr) return ModValue{~value};
    // Python's ~True is -2 and true; nobody who writes it in a mask wants that.
    return ModValue{value == 0};
  }
  return ModValue{value};
}

}  // namespace kw
