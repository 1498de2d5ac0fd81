// Rounding, and divisions that round.

#include <algorithm>
#include <cmath>
#include <utility>

#include "mod/frontend/call_table.hpp"

namespace kw {
namespace {

using Site = CallSite;
using Value = Result<ModValue>;

constexpr std::int64_t k_most_decimals = 30;  // beyond them a float has none to round

Value round_real(Site& site, ExprId node, std::int64_t decimals) {
  auto& builder = site.tracer.builder();
  if (decimals == 0) return node_value(builder.unary(ExprOp::round, node));
  if (std::abs(decimals) > k_most_decimals) {
    return site.error(errc::mod_limit, fmt::format("'decimals' of {} is {}", site.shown, decimals),
                      fmt::format("write a number from {} to {}", -k_most_decimals, k_most_decimals));
  }
  const auto power = builder.real(std::pow(10.0, static_cast<double>(std::abs(decimals))));
  const auto up = decimals > 0 ? ExprOp::multiply : ExprOp::divide;
  const auto down = decimals > 0 ? ExprOp::divide : ExprOp::multiply;
  return node_value(builder.binary(down, builder.unary(ExprOp::round, builder.binary(up, node, power)), power));
}

/// Halves go to the even neighbour.
Value round(Site& site) {
  KW_TRY(const auto node, site.node(0));
  std::int64_t decimals = 0;
  if (!site.arguments[1].is_none()) {
    const auto* known = site.arguments[1].as<std::int64_t>();
    if (known == nullptr) {
      return site.error(errc::mod_unsupported,
                        fmt::format("'decimals' of {} is an integer known before the kernel runs", site.shown),
                        "write the number");
    }
    decimals = *known;
  }
  auto& builder = site.tracer.builder();
  if (builder.type(node) == ScalarType::real) return round_real(site, node, decimals);
  if (decimals >= 0) return node_value(node);
  return site.error(errc::mod_unsupported, fmt::format("{} of an integer takes no negative decimals", site.shown),
                    "convert it with .float() first");
}

/// What a division of integers leaves, and where it was rounded the other way than C would.
struct IntegerDivision {
  ExprId remainder;  ///< with the sign of the divisor
  ExprId rounded_down;
};
Result<IntegerDivision> divide_integers(Site& site, ExprId left, ExprId right) {
  auto& builder = site.tracer.builder();
  KW_TRY(const auto modulo, site.tracer.binary("%", node_value(left), node_value(right), site.where));
  KW_TRY(const auto remainder, site.tracer.node_of(modulo, site.where));
  const auto zero = builder.integer(0);
  const auto apart = builder.binary(ExprOp::bit_xor, builder.binary(ExprOp::less, left, zero),
                                    builder.binary(ExprOp::less, right, zero));
  const auto inexact = builder.binary(ExprOp::not_equal, remainder, zero);
  return IntegerDivision{remainder, builder.binary(ExprOp::bit_and, inexact, apart)};
}

/// Both arguments as numbers of one type.
Result<std::pair<ExprId, ExprId>> numbers(Site& site) {
  KW_TRY(auto nodes, site.common(0, 1));
  auto& builder = site.tracer.builder();
  const auto type = std::max(builder.type(nodes.first), ScalarType::integer);
  return std::pair{builder.convert(nodes.first, type), builder.convert(nodes.second, type)};
}

/// The remainder with the sign of the dividend, as C has it.
Value fmod(Site& site) {
  KW_TRY(const auto nodes, numbers(site));
  auto& builder = site.tracer.builder();
  const auto [left, right] = nodes;
  if (builder.type(left) == ScalarType::real) return node_value(builder.binary(ExprOp::fmod, left, right));
  KW_TRY(const auto division, divide_integers(site, left, right));
  return node_value(builder.select(division.rounded_down, builder.binary(ExprOp::subtract, division.remainder, right),
                                   division.remainder));
}

/// A division rounded towards zero.
Value truncated_division(Site& site) {
  KW_TRY(const auto nodes, numbers(site));
  auto& builder = site.tracer.builder();
  const auto [left, right] = nodes;
  if (builder.type(left) == ScalarType::real) {
    const auto quotient = builder.binary(ExprOp::divide, left, right);
    const auto negative = builder.binary(ExprOp::less, quotient, builder.real(0.0));
    const auto floored = builder.unary(ExprOp::floor, builder.unary(ExprOp::absolute, quotient));
    return node_value(builder.select(negative, builder.unary(ExprOp::negate, floored), floored));
  }
  KW_TRY(const auto division, divide_integers(site, left, right));
  const auto floored = builder.binary(ExprOp::floor_divide, left, right);
  return node_value(
      builder.select(division.rounded_down, builder.binary(ExprOp::add, floored, builder.integer(1)), floored));
}

Value divide(Site& site) {
  const auto* mode = site.arguments[2].as<std::string>();
  if (site.arguments[2].is_none()) return site.tracer.binary("/", site.arguments[0], site.arguments[1], site.where);
  if (mode != nullptr && *mode == "floor") {
    return site.tracer.binary("//", site.arguments[0], site.arguments[1], site.where);
  }
  if (mode != nullptr && *mode == "trunc") return truncated_division(site);
  return site.error(errc::mod_type, fmt::format("{} has no such rounding mode", site.shown),
                    "write rounding_mode=\"floor\" or rounding_mode=\"trunc\", or leave it out");
}

constexpr CallRow k_rounding_rows[] = {
    {"torch.round", "input decimals?", round},
    {"torch.fmod", "input other", fmod},
    {"torch.div", "input other rounding_mode?", divide},
    {"torch.divide", "input other rounding_mode?", divide},
};

}  // namespace

std::span<const CallRow> rounding_rows() {
  return k_rounding_rows;
}

}  // namespace kw
