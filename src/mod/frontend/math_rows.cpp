// Python's math module, and the functions of Python that make numbers.

#include <cmath>
#include <limits>
#include <numeric>

#include "base/checked.hpp"
#include "mod/frontend/call_table.hpp"
#include "mod/frontend/python_numbers.hpp"

namespace kw {
namespace {

using Site = CallSite;
using Value = Result<ModValue>;

constexpr double k_exact_integers = 9007199254740992.0;

std::string in_torch(const Site& site) {
  return fmt::format("torch.{}", site.row.path.substr(site.row.path.find('.') + 1));
}

Value math_function(Site& site) {
  if (!site.python_could_know()) return site.refuse_traced(in_torch(site));
  if (!site.all_numbers()) return call_real_function(site);
  const double input = python_float(site.arguments[0]);
  const double result = site.row.on_number(input);
  if (std::isfinite(input) && !std::isfinite(result)) {
    return site.error(errc::mod_type, fmt::format("{}({}) has no value", site.shown, input));
  }
  return ModValue{result};
}

/// math.log(x) or math.log(x, base).
Value math_log(Site& site) {
  if (site.arguments[1].is_none()) return math_function(site);
  if (!site.python_could_know()) return site.refuse_traced("torch.log(x) / math.log(base)");
  KW_TRY(const double base, site.number(1, 0.0));
  if (!(base > 0.0) || base == 1.0) return site.error(errc::mod_type, fmt::format("{} is not a base", base));
  KW_TRY(const auto natural, math_function(site));
  return site.tracer.binary("/", natural, ModValue{std::log(base)}, site.where);
}

Value math_fmod(Site& site) {
  if (!site.python_could_know()) return site.refuse_traced(in_torch(site));
  if (!site.all_numbers()) {
    KW_TRY(const auto left, site.real(0));
    KW_TRY(const auto right, site.real(1));
    return node_value(site.tracer.builder().binary(ExprOp::fmod, left, right));
  }
  const double result = std::fmod(python_float(site.arguments[0]), python_float(site.arguments[1]));
  if (std::isnan(result)) return site.error(errc::mod_type, fmt::format("{} has no value here", site.shown));
  return ModValue{result};
}

/// An integer, when a float has one.
Value integer_of(const Site& site, double value) {
  if (std::fabs(value) <= k_exact_integers) return ModValue{static_cast<std::int64_t>(value)};
  return site.error(errc::mod_type, fmt::format("{}({}) has no value", site.shown, value));
}

/// math.floor, math.ceil and math.trunc give integers.
Value math_rounding(Site& site) {
  if (!site.python_could_know()) return site.refuse_traced(in_torch(site));
  if (!site.all_numbers()) {
    KW_TRY(const auto rounded, call_floor(site));
    return cast_value(site, rounded, ScalarType::integer);
  }
  const auto* real = site.arguments[0].as<double>();
  return real == nullptr ? site.arguments[0] : integer_of(site, site.row.on_number(*real));
}

/// Integers that Python knows, for math.gcd and the like.
Result<std::int64_t> integer_argument(Site& site, const ModValue& value) {
  if (const auto* integer = value.as<std::int64_t>()) return *integer;
  if (const auto* flag = value.as<bool>()) return *flag ? 1 : 0;
  if (value.is_node()) return site.refuse_traced("the number itself");
  return site.error(errc::mod_type, fmt::format("{} takes integers, but gets {}", site.shown, describe(value)));
}

Value math_gcd(Site& site) {
  std::int64_t result = 0;
  for (const auto& argument : site.arguments) {
    KW_TRY(const auto next, integer_argument(site, argument));
    if (next == std::numeric_limits<std::int64_t>::min()) return integer_of(site, -static_cast<double>(next));
    result = std::gcd(result, next);
  }
  return ModValue{result};
}

Value math_isqrt(Site& site) {
  KW_TRY(const auto value, integer_argument(site, site.arguments[0]));
  if (value < 0) return site.error(errc::mod_type, fmt::format("{}({}) has no value", site.shown, value));
  auto root = static_cast<std::int64_t>(std::sqrt(static_cast<double>(value)));
  while (root > 0 && root > value / root) --root;
  while (root + 1 <= value / (root + 1)) ++root;
  return ModValue{root};
}

Value math_prod(Site& site) {
  KW_TRY(const auto items, site.tracer.items_of(site.arguments[0], site.where));
  ModValue result{std::int64_t{1}};
  for (const auto& item : items) {
    KW_TRY(result, site.tracer.binary("*", result, item, site.where));
  }
  return result;
}

Value python_float_call(Site& site) {
  const auto& value = site.arguments[0];
  if (const auto* text = value.as<std::string>()) {
    const auto body = text->substr(!text->empty() && ((*text)[0] == '-' || (*text)[0] == '+') ? 1 : 0);
    const double sign = !text->empty() && (*text)[0] == '-' ? -1.0 : 1.0;
    if (body == "inf" || body == "infinity") return ModValue{sign * std::numeric_limits<double>::infinity()};
    if (body == "nan") return ModValue{std::numeric_limits<double>::quiet_NaN()};
    return site.error(errc::mod_type, "only float(\"inf\"), float(\"-inf\") and float(\"nan\") are read from strings",
                      "write the number itself");
  }
  if (value.is_number()) return ModValue{python_float(value)};
  if (!site.python_could_know()) return site.refuse_traced("x.to(torch.float32)");
  return cast_value(site, value, ScalarType::real);
}

Value python_int_call(Site& site) {
  const auto& value = site.arguments[0];
  if (!site.python_could_know()) return site.refuse_traced("x.to(torch.int32)");
  if (!value.is_number()) return cast_value(site, value, ScalarType::integer);
  if (value.as<double>() == nullptr) return python_unary("+", value, site.where);
  return integer_of(site, std::trunc(python_float(value)));
}

Value python_bool_call(Site& site) {
  const auto& value = site.arguments[0];
  if (!site.python_could_know()) return site.refuse_traced("x != 0");
  if (value.is_node()) return cast_value(site, value, ScalarType::boolean);
  KW_TRY(const bool truth, site.tracer.decide(value, site.where, site.shown, {}));
  return ModValue{truth};
}

/// Halves go to the even neighbour.
Value python_round(Site& site) {
  if (!site.python_could_know()) return site.refuse_traced("torch.round(x)");
  if (!site.arguments[0].is_number()) {
    KW_TRY(const auto node, site.real(0));
    return cast_value(site, node_value(site.tracer.builder().unary(ExprOp::round, node)), ScalarType::integer);
  }
  if (site.arguments[0].as<double>() == nullptr) return python_unary("+", site.arguments[0], site.where);
  return integer_of(site, std::nearbyint(python_float(site.arguments[0])));
}

Value python_extremum(Site& site) {
  if (site.arguments.size() == 1 && site.arguments[0].as<TupleRef>() != nullptr) {
    KW_TRY(site.arguments, site.tracer.items_of(site.arguments[0], site.where));
    if (site.arguments.empty()) return site.error(errc::mod_type, fmt::format("{} of nothing", site.shown));
  } else if (site.arguments.size() < 2) {
    return site.error(errc::mod_type, fmt::format("{} needs at least two arguments", site.shown));
  }
  const bool is_min = site.row.op == ExprOp::minimum;
  if (!site.python_could_know()) return site.refuse_traced(is_min ? "torch.minimum" : "torch.maximum");
  auto best = site.arguments[0];
  for (std::size_t i = 1; i < site.arguments.size(); ++i) {
    const auto& next = site.arguments[i];
    if (best.is_number() && next.is_number()) {
      KW_TRY(const auto better, python_binary(is_min ? "<" : ">", next, best, site.where));
      if (*better.as<bool>()) best = next;
      continue;
    }
    Site pair{site.tracer, site.row, site.shown, site.where, {best, next}, {}};
    KW_TRY(best, call_extremum(pair));
  }
  return best;
}

constexpr CallRow k_math_rows[] = {
    {"math.exp", "x", math_function, ExprOp::exp, {}, std::exp},
    {"math.exp2", "x", math_function, ExprOp::exp2, {}, std::exp2},
    {"math.log", "x base?", math_log, ExprOp::log, {}, std::log},
    {"math.log2", "x", math_function, ExprOp::log2, {}, std::log2},
    {"math.sqrt", "x", math_function, ExprOp::sqrt, {}, std::sqrt},
    {"math.tanh", "x", math_function, ExprOp::tanh, {}, std::tanh},
    {"math.erf", "x", math_function, ExprOp::erf, {}, std::erf},
    {"math.sin", "x", math_function, ExprOp::sin, {}, std::sin},
    {"math.cos", "x", math_function, ExprOp::cos, {}, std::cos},
    {"math.fmod", "x y", math_fmod, ExprOp::fmod},
    {"math.fabs", "x", math_function, ExprOp::absolute, {}, std::fabs},
    {"math.floor", "x", math_rounding, ExprOp::floor, "floor", std::floor},
    {"math.ceil", "x", math_rounding, ExprOp::floor, "ceil", std::ceil},
    {"math.pow", "x y", call_operator, ExprOp::power, "**"},
    {"math.gcd", "", math_gcd, ExprOp::constant, {}, nullptr, true},
    {"math.isqrt", "n", math_isqrt},
    {"math.prod", "iterable", math_prod},
    {"float", "x", python_float_call},
    {"int", "x", python_int_call},
    {"bool", "x", python_bool_call},
    {"abs", "x", call_absolute},
    {"round", "x", python_round},
    {"pow", "base exp", call_operator, ExprOp::power, "**"},
    {"min", "", python_extremum, ExprOp::minimum, {}, nullptr, true},
    {"max", "", python_extremum, ExprOp::maximum, {}, nullptr, true},
};

}  // namespace

std::span<const CallRow> math_rows() {
  return k_math_rows;
}

}  // namespace kw
