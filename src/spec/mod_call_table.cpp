#include "spec/mod_call_table.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "spec/mod_parser.hpp"
#include "spec/python_numbers.hpp"

namespace kw {
namespace {

using Site = CallSite;
using Value = Result<ModValue>;

tl::unexpected<Error> error(const Site& site, ErrorCode code, std::string message, std::string hint = {}) {
  return fail(Error{code, std::move(message), std::move(hint), site.where});
}
ModValue node_value(ExprId id) {
  return ModValue{NodeRef{id}};
}
Result<ExprId> argument_node(Site& site, std::size_t index) {
  return site.tracer.node_of(site.arguments[index], site.where);
}
Result<ExprId> real_argument(Site& site, std::size_t index) {
  KW_TRY(const auto node, argument_node(site, index));
  return site.tracer.builder().convert(node, ScalarType::real);
}
/// Two values of the type both promote to.
Result<std::pair<ExprId, ExprId>> common_nodes(Site& site, std::size_t first, std::size_t second) {
  KW_TRY(const auto left, argument_node(site, first));
  KW_TRY(const auto right, argument_node(site, second));
  auto& builder = site.tracer.builder();
  const auto type = std::max(builder.type(left), builder.type(right));
  return std::pair{builder.convert(left, type), builder.convert(right, type)};
}

Value real_function(Site& site) {
  KW_TRY(const auto node, real_argument(site, 0));
  return node_value(site.tracer.builder().unary(site.row.op, node));
}

Value operator_function(Site& site) {
  return site.tracer.binary(site.row.symbol, site.arguments[0], site.arguments[1], site.where);
}
Value unary_operator_function(Site& site) {
  return site.tracer.unary(site.row.symbol, site.arguments[0], site.where);
}

/// torch.floor leaves integers as they are; ceil is floor on the mirrored axis.
Value floor_function(Site& site) {
  KW_TRY(const auto node, argument_node(site, 0));
  auto& builder = site.tracer.builder();
  if (builder.type(node) != ScalarType::real) return node_value(node);
  if (site.row.symbol == "floor") return node_value(builder.unary(ExprOp::floor, node));
  return node_value(builder.unary(ExprOp::negate, builder.unary(ExprOp::floor, builder.unary(ExprOp::negate, node))));
}

Value absolute(Site& site) {
  const auto& value = site.arguments[0];
  if (value.is_number()) {
    const bool negative = python_float(value) < 0.0;
    return python_unary(negative ? "-" : "+", value, site.where);
  }
  KW_TRY(const auto node, argument_node(site, 0));
  auto& builder = site.tracer.builder();
  if (builder.type(node) == ScalarType::boolean) return node_value(node);
  return node_value(builder.unary(ExprOp::absolute, node));
}

Value square(Site& site) {
  return site.tracer.binary("*", site.arguments[0], site.arguments[0], site.where);
}

Value extremum(Site& site) {
  if (site.arguments[1].is_none()) {
    return error(site, errc::mod_unsupported, fmt::format("{} of one argument reduces a tensor", site.shown),
                 "a mod sees one score at a time; give two arguments");
  }
  KW_TRY(const auto nodes, common_nodes(site, 0, 1));
  auto& builder = site.tracer.builder();
  if (builder.type(nodes.first) == ScalarType::boolean) {
    const auto op = site.row.op == ExprOp::minimum ? ExprOp::bit_and : ExprOp::bit_or;
    return node_value(builder.binary(op, nodes.first, nodes.second));
  }
  return node_value(builder.binary(site.row.op, nodes.first, nodes.second));
}

Value clamp(Site& site) {
  auto& builder = site.tracer.builder();
  if (site.arguments[1].is_none() && site.arguments[2].is_none()) {
    return error(site, errc::mod_type, fmt::format("{} needs min, max or both", site.shown));
  }
  KW_TRY(auto node, argument_node(site, 0));
  const std::pair<std::size_t, ExprOp> bounds[] = {{1, ExprOp::maximum}, {2, ExprOp::minimum}};
  for (const auto& [index, op] : bounds) {
    if (site.arguments[index].is_none()) continue;
    KW_TRY(const auto bound, argument_node(site, index));
    const auto type = std::max({builder.type(node), builder.type(bound), ScalarType::integer});
    node = builder.binary(op, builder.convert(node, type), builder.convert(bound, type));
  }
  return node_value(node);
}

Value relu(Site& site) {
  KW_TRY(const auto node, argument_node(site, 0));
  auto& builder = site.tracer.builder();
  const auto type = std::max(builder.type(node), ScalarType::integer);
  const auto zero = builder.convert(builder.integer(0), type);
  return node_value(builder.binary(ExprOp::maximum, builder.convert(node, type), zero));
}

Value silu(Site& site) {
  KW_TRY(const auto node, real_argument(site, 0));
  auto& builder = site.tracer.builder();
  return node_value(builder.binary(ExprOp::multiply, node, builder.unary(ExprOp::sigmoid, node)));
}

Value where(Site& site) {
  auto& builder = site.tracer.builder();
  KW_TRY(const auto condition, argument_node(site, 0));
  if (builder.type(condition) != ScalarType::boolean) {
    return error(site, errc::mod_type, fmt::format("the condition of {} is not a boolean", site.shown),
                 "compare it with something, as in x != 0");
  }
  KW_TRY(const auto branches, common_nodes(site, 1, 2));
  return node_value(builder.select(condition, branches.first, branches.second));
}

Value logical(Site& site) {
  auto& builder = site.tracer.builder();
  KW_TRY(const auto left, argument_node(site, 0));
  const auto left_truth = builder.convert(left, ScalarType::boolean);
  if (site.row.op == ExprOp::bit_not) return node_value(builder.unary(ExprOp::bit_not, left_truth));
  KW_TRY(const auto right, argument_node(site, 1));
  return node_value(builder.binary(site.row.op, left_truth, builder.convert(right, ScalarType::boolean)));
}

Value cast_to(Site& site, ScalarType type) {
  KW_TRY(const auto node, argument_node(site, 0));
  return node_value(site.tracer.builder().convert(node, type));
}
Value cast_real(Site& site) {
  return cast_to(site, ScalarType::real);
}
Value cast_integer(Site& site) {
  return cast_to(site, ScalarType::integer);
}
Value cast_boolean(Site& site) {
  return cast_to(site, ScalarType::boolean);
}
Value unchanged(Site& site) {
  return site.arguments[0];
}

std::optional<ScalarType> scalar_type(std::string_view dtype) {
  if (dtype == "torch.float32" || dtype == "torch.float" || dtype == "float") return ScalarType::real;
  if (dtype == "torch.int32" || dtype == "torch.int" || dtype == "torch.int64" || dtype == "torch.long" ||
      dtype == "int") {
    return ScalarType::integer;
  }
  if (dtype == "torch.bool" || dtype == "bool") return ScalarType::boolean;
  return std::nullopt;
}

Value to(Site& site) {
  auto wanted = site.arguments[1];
  if (site.arguments[2].as<LibraryRef>() != nullptr) wanted = site.arguments[2];  // .to(device, dtype)
  const auto* name = wanted.as<LibraryRef>();
  if (wanted.as<std::string>() != nullptr || wanted.is_none()) return site.arguments[0];  // a device
  if (name != nullptr && name->path == "torch.device") return site.arguments[0];
  if (name != nullptr) {
    if (const auto type = scalar_type(name->path)) return cast_to(site, *type);
  }
  return error(site, errc::mod_unsupported,
               fmt::format("conversion to {} is not supported", name != nullptr ? name->path : describe(wanted)),
               "torch.float32, torch.int32 and torch.bool are");
}

Value refuse_narrow(Site& site) {
  return error(site, errc::mod_unsupported,
               fmt::format("{} is not supported: scores are computed in float32", site.shown), "write .float()");
}

/// True when every argument is a number Python knows, or a node Python could know (made of axes).
bool python_could_know(Site& site) {
  return std::all_of(site.arguments.begin(), site.arguments.end(), [&](const ModValue& value) {
    const auto* node = value.as<NodeRef>();
    return value.is_number() || value.is_none() || (node != nullptr && site.tracer.is_static(node->id));
  });
}
tl::unexpected<Error> refuse_traced(const Site& site, std::string_view instead) {
  return error(site, errc::mod_unsupported,
               fmt::format("{} works on Python numbers, but this value is only known in the kernel", site.shown),
               fmt::format("write {}", instead));
}
bool all_numbers(const Site& site) {
  return std::all_of(site.arguments.begin(), site.arguments.end(),
                     [](const ModValue& value) { return value.is_number() || value.is_none(); });
}

Value math_function(Site& site) {
  const auto bare = site.row.path.substr(site.row.path.find('.') + 1);
  if (!python_could_know(site)) return refuse_traced(site, fmt::format("torch.{}", bare));
  if (!all_numbers(site)) return real_function(site);
  const double input = python_float(site.arguments[0]);
  const double result = site.row.on_number(input);
  if (std::isfinite(input) && !std::isfinite(result)) {
    return error(site, errc::mod_type, fmt::format("{}({}) has no value", site.shown, input));
  }
  return ModValue{result};
}

/// math.floor and math.ceil give integers.
Value math_rounding(Site& site) {
  const auto bare = site.row.path.substr(site.row.path.find('.') + 1);
  if (!python_could_know(site)) return refuse_traced(site, fmt::format("torch.{}", bare));
  if (!all_numbers(site)) {
    KW_TRY(site.arguments[0], floor_function(site));
    return cast_to(site, ScalarType::integer);
  }
  if (site.arguments[0].as<double>() == nullptr) return site.arguments[0];
  const double result = site.row.on_number(*site.arguments[0].as<double>());
  constexpr double k_exact = 9007199254740992.0;
  if (!(std::fabs(result) <= k_exact)) return error(site, errc::mod_type, fmt::format("{} has no value", site.shown));
  return ModValue{static_cast<std::int64_t>(result)};
}

Value power_function(Site& site) {
  return site.tracer.binary("**", site.arguments[0], site.arguments[1], site.where);
}

Value python_float_call(Site& site) {
  const auto& value = site.arguments[0];
  if (const auto* text = value.as<std::string>()) {
    const auto body = text->substr(!text->empty() && ((*text)[0] == '-' || (*text)[0] == '+') ? 1 : 0);
    const double sign = !text->empty() && (*text)[0] == '-' ? -1.0 : 1.0;
    if (body == "inf" || body == "infinity") return ModValue{sign * std::numeric_limits<double>::infinity()};
    if (body == "nan") return ModValue{std::numeric_limits<double>::quiet_NaN()};
    return error(site, errc::mod_type, "only float(\"inf\"), float(\"-inf\") and float(\"nan\") are read from strings",
                 "write the number itself");
  }
  if (value.is_number()) return ModValue{python_float(value)};
  if (!python_could_know(site)) return refuse_traced(site, "x.to(torch.float32)");
  return cast_real(site);
}

Value python_int_call(Site& site) {
  const auto& value = site.arguments[0];
  if (!python_could_know(site)) return refuse_traced(site, "x.to(torch.int32)");
  if (!value.is_number()) return cast_integer(site);
  const double number = python_float(value);
  if (value.as<double>() == nullptr) return python_unary("+", value, site.where);
  constexpr double k_exact = 9007199254740992.0;
  if (!(std::fabs(number) <= k_exact)) return error(site, errc::mod_type, fmt::format("int({}) has no value", number));
  return ModValue{static_cast<std::int64_t>(std::trunc(number))};
}

Value python_bool_call(Site& site) {
  if (!python_could_know(site)) return refuse_traced(site, "x != 0");
  if (site.arguments[0].is_number()) return ModValue{python_truth(site.arguments[0])};
  return cast_boolean(site);
}

Value python_extremum(Site& site) {
  if (site.arguments.size() < 2) {
    return error(site, errc::mod_type, fmt::format("{} needs at least two arguments", site.shown));
  }
  const bool is_min = site.row.op == ExprOp::minimum;
  if (!python_could_know(site)) return refuse_traced(site, is_min ? "torch.minimum" : "torch.maximum");
  auto best = site.arguments[0];
  for (std::size_t i = 1; i < site.arguments.size(); ++i) {
    const auto& next = site.arguments[i];
    if (best.is_number() && next.is_number()) {
      KW_TRY(const auto better, python_binary(is_min ? "<" : ">", next, best, site.where));
      if (*better.as<bool>()) best = next;
      continue;
    }
    Site pair{site.tracer, site.row, site.shown, site.where, {best, next}};
    KW_TRY(best, extremum(pair));
  }
  return best;
}

constexpr CallRow k_table[] = {
    {"torch.where", "condition input other", where},
    {"torch.abs", "input", absolute},
    {"torch.absolute", "input", absolute},
    {"torch.minimum", "input other", extremum, ExprOp::minimum},
    {"torch.maximum", "input other", extremum, ExprOp::maximum},
    {"torch.min", "input other?", extremum, ExprOp::minimum},
    {"torch.max", "input other?", extremum, ExprOp::maximum},
    {"torch.clamp", "input min? max?", clamp},
    {"torch.clip", "input min? max?", clamp},
    {"torch.relu", "input", relu},
    {"torch.silu", "input", silu},
    {"torch.square", "input", square},
    {"torch.tanh", "input", real_function, ExprOp::tanh},
    {"torch.exp", "input", real_function, ExprOp::exp},
    {"torch.exp2", "input", real_function, ExprOp::exp2},
    {"torch.log", "input", real_function, ExprOp::log},
    {"torch.log2", "input", real_function, ExprOp::log2},
    {"torch.sigmoid", "input", real_function, ExprOp::sigmoid},
    {"torch.expit", "input", real_function, ExprOp::sigmoid},
    {"torch.sqrt", "input", real_function, ExprOp::sqrt},
    {"torch.rsqrt", "input", real_function, ExprOp::rsqrt},
    {"torch.floor", "input", floor_function, ExprOp::floor, "floor"},
    {"torch.ceil", "input", floor_function, ExprOp::floor, "ceil"},
    {"torch.add", "input other", operator_function, ExprOp::add, "+"},
    {"torch.sub", "input other", operator_function, ExprOp::subtract, "-"},
    {"torch.subtract", "input other", operator_function, ExprOp::subtract, "-"},
    {"torch.mul", "input other", operator_function, ExprOp::multiply, "*"},
    {"torch.multiply", "input other", operator_function, ExprOp::multiply, "*"},
    {"torch.div", "input other", operator_function, ExprOp::divide, "/"},
    {"torch.divide", "input other", operator_function, ExprOp::divide, "/"},
    {"torch.true_divide", "input other", operator_function, ExprOp::divide, "/"},
    {"torch.floor_divide", "input other", operator_function, ExprOp::floor_divide, "//"},
    {"torch.remainder", "input other", operator_function, ExprOp::modulo, "%"},
    {"torch.pow", "input exponent", power_function},
    {"torch.neg", "input", unary_operator_function, ExprOp::negate, "-"},
    {"torch.negative", "input", unary_operator_function, ExprOp::negate, "-"},
    {"torch.lt", "input other", operator_function, ExprOp::less, "<"},
    {"torch.le", "input other", operator_function, ExprOp::less_equal, "<="},
    {"torch.gt", "input other", operator_function, ExprOp::greater, ">"},
    {"torch.ge", "input other", operator_function, ExprOp::greater_equal, ">="},
    {"torch.eq", "input other", operator_function, ExprOp::equal, "=="},
    {"torch.ne", "input other", operator_function, ExprOp::not_equal, "!="},
    {"torch.bitwise_and", "input other", operator_function, ExprOp::bit_and, "&"},
    {"torch.bitwise_or", "input other", operator_function, ExprOp::bit_or, "|"},
    {"torch.bitwise_xor", "input other", operator_function, ExprOp::bit_xor, "^"},
    {"torch.bitwise_not", "input", unary_operator_function, ExprOp::bit_not, "~"},
    {"torch.bitwise_left_shift", "input other", operator_function, ExprOp::shift_left, "<<"},
    {"torch.bitwise_right_shift", "input other", operator_function, ExprOp::shift_right, ">>"},
    {"torch.logical_and", "input other", logical, ExprOp::bit_and},
    {"torch.logical_or", "input other", logical, ExprOp::bit_or},
    {"torch.logical_xor", "input other", logical, ExprOp::bit_xor},
    {"torch.logical_not", "input", logical, ExprOp::bit_not},
    {"torch.float", "input", cast_real},
    {"torch.int", "input", cast_integer},
    {"torch.long", "input", cast_integer},
    {"torch.bool", "input", cast_boolean},
    {"torch.to", "input dtype device?", to},
    {"torch.type", "input dtype", to},
    {"torch.half", "input", refuse_narrow},
    {"torch.bfloat16", "input", refuse_narrow},
    {"torch.double", "input", refuse_narrow},
    {"torch.clone", "input", unchanged},
    {"torch.detach", "input", unchanged},
    {"math.exp", "x", math_function, ExprOp::exp, {}, std::exp},
    {"math.exp2", "x", math_function, ExprOp::exp2, {}, std::exp2},
    {"math.log", "x", math_function, ExprOp::log, {}, std::log},
    {"math.log2", "x", math_function, ExprOp::log2, {}, std::log2},
    {"math.sqrt", "x", math_function, ExprOp::sqrt, {}, std::sqrt},
    {"math.tanh", "x", math_function, ExprOp::tanh, {}, std::tanh},
    {"math.fabs", "x", math_function, ExprOp::absolute, {}, std::fabs},
    {"math.floor", "x", math_rounding, ExprOp::floor, "floor", std::floor},
    {"math.ceil", "x", math_rounding, ExprOp::floor, "ceil", std::ceil},
    {"math.pow", "x y", power_function},
    {"float", "x", python_float_call},
    {"int", "x", python_int_call},
    {"bool", "x", python_bool_call},
    {"abs", "x", absolute},
    {"pow", "base exp", power_function},
    {"min", "", python_extremum, ExprOp::minimum, {}, nullptr, true},
    {"max", "", python_extremum, ExprOp::maximum, {}, nullptr, true},
};

}  // namespace

std::vector<CallParameter> split_parameters(std::string_view parameters) {
  std::vector<CallParameter> list;
  while (!parameters.empty()) {
    const auto word = parameters.substr(0, parameters.find(' '));
    parameters.remove_prefix(std::min(parameters.size(), word.size() + 1));
    const bool optional = word.back() == '?';
    list.push_back({word.substr(0, word.size() - (optional ? 1 : 0)), optional});
  }
  return list;
}

std::span<const CallRow> call_table() {
  return k_table;
}

}  // namespace kw
