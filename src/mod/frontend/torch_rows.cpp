// Functions and methods of torch on single values.

#include <algorithm>
#include <limits>
#include <utility>

#include "mod/frontend/call_table.hpp"

namespace kw {
namespace {

using Site = CallSite;
using Value = Result<ModValue>;

Value square(Site& site) {
  return site.tracer.binary("*", site.arguments[0], site.arguments[0], site.where);
}

Value clamp(Site& site) {
  auto& builder = site.tracer.builder();
  if (site.arguments[1].is_none() && site.arguments[2].is_none()) {
    return site.error(errc::mod_type, fmt::format("{} needs min, max or both", site.shown));
  }
  KW_TRY(auto node, site.node(0));
  const std::pair<std::size_t, ExprOp> bounds[] = {{1, ExprOp::maximum}, {2, ExprOp::minimum}};
  for (const auto& [index, op] : bounds) {
    if (site.arguments[index].is_none()) continue;
    KW_TRY(const auto bound, site.node(index));
    const auto type = std::max({builder.type(node), builder.type(bound), ScalarType::integer});
    node = builder.binary(op, builder.convert(node, type), builder.convert(bound, type));
  }
  return node_value(node);
}

Value where(Site& site) {
  auto& builder = site.tracer.builder();
  KW_TRY(const auto condition, site.node(0));
  if (builder.type(condition) != ScalarType::boolean) {
    return site.error(errc::mod_type, fmt::format("the condition of {} is not a boolean", site.shown),
                      "compare it with something, as in x != 0");
  }
  KW_TRY(const auto branches, site.common(1, 2));
  return node_value(builder.select(condition, branches.first, branches.second));
}

Value logical(Site& site) {
  auto& builder = site.tracer.builder();
  KW_TRY(const auto left, site.node(0));
  const auto left_truth = builder.convert(left, ScalarType::boolean);
  if (site.row.op == ExprOp::bit_not) return node_value(builder.unary(ExprOp::bit_not, left_truth));
  KW_TRY(const auto right, site.node(1));
  return node_value(builder.binary(site.row.op, left_truth, builder.convert(right, ScalarType::boolean)));
}

/// x > 0 gives 1, x < 0 gives -1, anything else 0; in the type of x.
Value sign(Site& site) {
  KW_TRY(const auto node, site.node(0));
  auto& builder = site.tracer.builder();
  const auto type = std::max(builder.type(node), ScalarType::integer);
  const auto value = builder.convert(node, type);
  const auto number = [&](std::int64_t x) { return builder.convert(builder.integer(x), type); };
  const auto negative = builder.select(builder.binary(ExprOp::less, value, number(0)), number(-1), number(0));
  return node_value(builder.select(builder.binary(ExprOp::greater, value, number(0)), number(1), negative));
}

Value truncate(Site& site) {
  KW_TRY(const auto node, site.node(0));
  auto& builder = site.tracer.builder();
  if (builder.type(node) != ScalarType::real) return node_value(node);
  const auto mirrored = builder.unary(ExprOp::floor, builder.unary(ExprOp::negate, node));
  const auto negative = builder.binary(ExprOp::less, node, builder.real(0.0));
  return node_value(
      builder.select(negative, builder.unary(ExprOp::negate, mirrored), builder.unary(ExprOp::floor, node)));
}

Value reciprocal(Site& site) {
  return site.tracer.binary("/", ModValue{1.0}, site.arguments[0], site.where);
}

Value tangent(Site& site) {
  KW_TRY(const auto node, site.real(0));
  auto& builder = site.tracer.builder();
  return node_value(builder.binary(ExprOp::divide, builder.unary(ExprOp::sin, node), builder.unary(ExprOp::cos, node)));
}

/// Written out, because kernels have no such functions; near 0 they lose the digits that log1p and expm1 would keep.
Value log_1p(Site& site) {
  KW_TRY(const auto node, site.real(0));
  auto& builder = site.tracer.builder();
  return node_value(builder.unary(ExprOp::log, builder.binary(ExprOp::add, node, builder.real(1.0))));
}
Value exp_m1(Site& site) {
  KW_TRY(const auto node, site.real(0));
  auto& builder = site.tracer.builder();
  return node_value(builder.binary(ExprOp::subtract, builder.unary(ExprOp::exp, node), builder.real(1.0)));
}

/// Compares the absolute value with infinity by the row's operation.
Value is_infinite(Site& site) {
  KW_TRY(const auto node, site.real(0));
  auto& builder = site.tracer.builder();
  const auto infinity = builder.real(std::numeric_limits<double>::infinity());
  return node_value(builder.binary(site.row.op, builder.unary(ExprOp::absolute, node), infinity));
}

constexpr CallRow k_torch_rows[] = {
    {"torch.where", "condition input other", where},
    {"torch.abs", "input", call_absolute},
    {"torch.absolute", "input", call_absolute},
    {"torch.minimum", "input other", call_extremum, ExprOp::minimum},
    {"torch.maximum", "input other", call_extremum, ExprOp::maximum},
    {"torch.min", "input other?", call_extremum, ExprOp::minimum},
    {"torch.max", "input other?", call_extremum, ExprOp::maximum},
    {"torch.clamp", "input min? max?", clamp},
    {"torch.clip", "input min? max?", clamp},
    {"torch.square", "input", square},
    {"torch.tanh", "input", call_real_function, ExprOp::tanh},
    {"torch.exp", "input", call_real_function, ExprOp::exp},
    {"torch.exp2", "input", call_real_function, ExprOp::exp2},
    {"torch.log", "input", call_real_function, ExprOp::log},
    {"torch.log2", "input", call_real_function, ExprOp::log2},
    {"torch.sigmoid", "input", call_real_function, ExprOp::sigmoid},
    {"torch.erf", "input", call_real_function, ExprOp::erf},
    {"torch.sin", "input", call_real_function, ExprOp::sin},
    {"torch.cos", "input", call_real_function, ExprOp::cos},
    {"torch.tan", "input", tangent},
    {"torch.ops.approx.tanh", "input", call_real_function, ExprOp::tanh},
    {"torch.expit", "input", call_real_function, ExprOp::sigmoid},
    {"torch.sqrt", "input", call_real_function, ExprOp::sqrt},
    {"torch.rsqrt", "input", call_real_function, ExprOp::rsqrt},
    {"torch.floor", "input", call_floor, ExprOp::floor, "floor"},
    {"torch.ceil", "input", call_floor, ExprOp::floor, "ceil"},
    {"torch.add", "input other", call_operator, ExprOp::add, "+"},
    {"torch.sub", "input other", call_operator, ExprOp::subtract, "-"},
    {"torch.subtract", "input other", call_operator, ExprOp::subtract, "-"},
    {"torch.mul", "input other", call_operator, ExprOp::multiply, "*"},
    {"torch.multiply", "input other", call_operator, ExprOp::multiply, "*"},
    {"torch.true_divide", "input other", call_operator, ExprOp::divide, "/"},
    {"torch.floor_divide", "input other", call_operator, ExprOp::floor_divide, "//"},
    {"torch.remainder", "input other", call_operator, ExprOp::modulo, "%"},
    {"torch.reciprocal", "input", reciprocal},
    {"torch.sign", "input", sign},
    {"torch.trunc", "input", truncate},
    {"torch.fix", "input", truncate},
    {"torch.log1p", "input", log_1p},
    {"torch.expm1", "input", exp_m1},
    {"torch.isinf", "input", is_infinite, ExprOp::equal},
    {"torch.isfinite", "input", is_infinite, ExprOp::less},
    {"torch.pow", "input exponent", call_operator, ExprOp::power, "**"},
    {"torch.neg", "input", call_unary_operator, ExprOp::negate, "-"},
    {"torch.negative", "input", call_unary_operator, ExprOp::negate, "-"},
    {"torch.lt", "input other", call_operator, ExprOp::less, "<"},
    {"torch.le", "input other", call_operator, ExprOp::less_equal, "<="},
    {"torch.greater", "input other", call_operator, ExprOp::greater, ">"},
    {"torch.greater_equal", "input other", call_operator, ExprOp::greater_equal, ">="},
    {"torch.less", "input other", call_operator, ExprOp::less, "<"},
    {"torch.less_equal", "input other", call_operator, ExprOp::less_equal, "<="},
    {"torch.not_equal", "input other", call_operator, ExprOp::not_equal, "!="},
    {"torch.gt", "input other", call_operator, ExprOp::greater, ">"},
    {"torch.ge", "input other", call_operator, ExprOp::greater_equal, ">="},
    {"torch.eq", "input other", call_operator, ExprOp::equal, "=="},
    {"torch.ne", "input other", call_operator, ExprOp::not_equal, "!="},
    {"torch.bitwise_and", "input other", call_operator, ExprOp::bit_and, "&"},
    {"torch.bitwise_or", "input other", call_operator, ExprOp::bit_or, "|"},
    {"torch.bitwise_xor", "input other", call_operator, ExprOp::bit_xor, "^"},
    {"torch.bitwise_not", "input", call_unary_operator, ExprOp::bit_not, "~"},
    {"torch.bitwise_left_shift", "input other", call_operator, ExprOp::shift_left, "<<"},
    {"torch.bitwise_right_shift", "input other", call_operator, ExprOp::shift_right, ">>"},
    {"torch.logical_and", "input other", logical, ExprOp::bit_and},
    {"torch.logical_or", "input other", logical, ExprOp::bit_or},
    {"torch.logical_xor", "input other", logical, ExprOp::bit_xor},
    {"torch.logical_not", "input", logical, ExprOp::bit_not},
};

}  // namespace

std::span<const CallRow> torch_rows() {
  return k_torch_rows;
}

}  // namespace kw
