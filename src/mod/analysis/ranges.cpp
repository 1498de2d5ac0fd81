#include "mod/analysis/ranges.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <initializer_list>
#include <limits>

#include "mod/expression/arithmetic.hpp"
#include "mod/expression/semantics.hpp"

namespace kw {
namespace {

constexpr double k_infinity = std::numeric_limits<double>::infinity();
constexpr double k_int_low = std::numeric_limits<std::int32_t>::min();
constexpr double k_int_high = std::numeric_limits<std::int32_t>::max();
constexpr double k_largest_extent = 1 << 24;
// Far above the error of any C library, far below what a mask could care about.
constexpr double k_library_error = 1e-9;

ValueRange unknown(ScalarType type) {
  switch (type) {
    case ScalarType::boolean:
      return {0.0, 1.0};
    case ScalarType::integer:
      return {k_int_low, k_int_high};
    case ScalarType::real:
      break;
  }
  return {-k_infinity, k_infinity, true};
}

bool holds_zero(const ValueRange& range) {
  return range.low <= 0.0 && range.high >= 0.0;
}
bool finite(const ValueRange& range) {
  return std::isfinite(range.low) && std::isfinite(range.high) && !range.maybe_nan;
}

/// An integer result that may leave 32 bits wraps and can be anything.
ValueRange as_type(ScalarType type, double low, double high, bool maybe_nan = false) {
  if (type == ScalarType::integer && !fits_int32(low, high)) return unknown(type);
  return {low, high, maybe_nan};
}

/// Extremes over the four corners, for functions monotone in each operand (rounding keeps monotony).
template <typename Function>
ValueRange corners(ScalarType type, const ValueRange& a, const ValueRange& b, Function function) {
  double low = k_infinity;
  double high = -k_infinity;
  for (const double x : {a.low, a.high}) {
    for (const double y : {b.low, b.high}) {
      const double value = function(x, y);
      if (std::isnan(value)) return unknown(type);
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  return as_type(type, low, high, a.maybe_nan || b.maybe_nan);
}

ValueRange multiply(ScalarType type, const ValueRange& a, const ValueRange& b) {
  const bool infinite_a = std::isinf(a.low) || std::isinf(a.high);
  const bool infinite_b = std::isinf(b.low) || std::isinf(b.high);
  if ((infinite_a && holds_zero(b)) || (infinite_b && holds_zero(a))) return unknown(type);
  return corners(type, a, b, [](double x, double y) { return x * y; });
}

ValueRange floor_divide(ScalarType type, const ValueRange& a, const ValueRange& b) {
  if (holds_zero(b) || !finite(a) || !finite(b)) return unknown(type);
  auto range = corners(type, a, b, [](double x, double y) { return std::floor(x / y); });
  // Python's float quotient may differ from the rounded one by one.
  if (type == ScalarType::real) range = {range.low - 1.0, range.high + 1.0};
  return range;
}

ValueRange modulo(ScalarType type, const ValueRange& a, const ValueRange& b) {
  if (type == ScalarType::real) {
    if (holds_zero(b) || !finite(a) || !finite(b)) return unknown(type);
    return {std::min(b.low, 0.0), std::max(b.high, 0.0)};
  }
  if (b.is_point() && b.low > 0.0 && std::floor(a.low / b.low) == std::floor(a.high / b.low)) {
    return {semantics::integer_modulo(a.low, b.low), semantics::integer_modulo(a.high, b.low)};
  }
  ValueRange range{std::min(b.low + 1.0, 0.0), std::max(b.high - 1.0, 0.0)};
  if (a.low >= 0.0 && b.low > 0.0) range.high = std::min(range.high, a.high);
  return range;
}

ValueRange bits(ExprOp op, ScalarType type, const ValueRange& a, const ValueRange& b) {
  const bool boolean = type == ScalarType::boolean;
  if (op == ExprOp::bit_and) {
    if (boolean) return {std::min(a.low, b.low), std::min(a.high, b.high)};
    if (a.low >= 0.0 && b.low >= 0.0) return {0.0, std::min(a.high, b.high)};
    if (a.low >= 0.0 || b.low >= 0.0) return {0.0, a.low >= 0.0 ? a.high : b.high};
    return unknown(type);
  }
  if (boolean && op == ExprOp::bit_or) return {std::max(a.low, b.low), std::max(a.high, b.high)};
  if (boolean || a.low < 0.0 || b.low < 0.0) return unknown(type);
  const auto highest = static_cast<std::uint32_t>(std::max(a.high, b.high));
  const double all_ones = static_cast<double>((std::uint64_t{1} << std::bit_width(highest)) - 1);
  return {op == ExprOp::bit_or ? std::max(a.low, b.low) : 0.0, all_ones};
}

ValueRange shift(ExprOp op, const ValueRange& a, const ValueRange& b) {
  if (b.low < 0.0 || b.high > 31.0) return unknown(ScalarType::integer);
  const bool left = op == ExprOp::shift_left;
  return corners(ScalarType::integer, a, b, [left](double x, double y) {
    return left ? std::ldexp(x, static_cast<int>(y)) : std::floor(std::ldexp(x, -static_cast<int>(y)));
  });
}

ValueRange verdict(bool surely, bool surely_not) {
  if (surely) return {1.0, 1.0};
  return surely_not ? ValueRange{0.0, 0.0} : ValueRange{0.0, 1.0};
}

ValueRange compare(ExprOp op, const ValueRange& a, const ValueRange& b) {
  const bool ordered = !a.maybe_nan && !b.maybe_nan;  // every comparison with a NaN is false, but for !=
  switch (op) {
    case ExprOp::less:
      return verdict(ordered && a.high < b.low, a.low >= b.high);
    case ExprOp::less_equal:
      return verdict(ordered && a.high <= b.low, a.low > b.high);
    case ExprOp::greater:
      return verdict(ordered && a.low > b.high, a.high <= b.low);
    case ExprOp::greater_equal:
      return verdict(ordered && a.low >= b.high, a.high < b.low);
    case ExprOp::equal:
      return verdict(a.is_point() && b.is_point() && a.low == b.low, a.high < b.low || b.high < a.low);
    default:
      return verdict(a.high < b.low || b.high < a.low, a.is_point() && b.is_point() && a.low == b.low);
  }
}

ValueRange absolute(ScalarType type, const ValueRange& a) {
  const double larger = std::max(std::fabs(a.low), std::fabs(a.high));
  const double smaller = holds_zero(a) ? 0.0 : std::min(std::fabs(a.low), std::fabs(a.high));
  return as_type(type, smaller, larger, a.maybe_nan);
}

/// Between the divisor and 0 on either side of 0, on the dividend's side, and never beyond the dividend.
ValueRange remainder(const ValueRange& a, const ValueRange& b) {
  if (holds_zero(b) || !finite(a) || b.maybe_nan) return unknown(ScalarType::real);
  const double divisor = std::max(std::fabs(b.low), std::fabs(b.high));
  return {a.low >= 0.0 ? 0.0 : std::max(a.low, -divisor), a.high <= 0.0 ? 0.0 : std::min(a.high, divisor)};
}

/// sin and cos; of an infinity they are not a number.
ValueRange oscillating(const ValueRange& a) {
  return {-1.0, 1.0, !finite(a)};
}

/// exp and its kin: increasing where defined, computed by a library that is off by a little.
ValueRange increasing(ExprOp op, const ValueRange& a) {
  const bool positive_only = op == ExprOp::log || op == ExprOp::log2 || op == ExprOp::sqrt;
  if (positive_only && a.low < 0.0) return unknown(ScalarType::real);
  const double low = semantics::apply(op, ScalarType::real, a.low);
  const double high = semantics::apply(op, ScalarType::real, a.high);
  const auto widened = [](double value, double by) { return value + by * (std::fabs(value) + k_library_error); };
  return {widened(low, -k_library_error), widened(high, k_library_error), a.maybe_nan};
}

ValueRange convert(ExprOp op, const ValueRange& a) {
  if (op == ExprOp::to_real) return a;
  if (op == ExprOp::to_boolean) {
    return verdict(a.low > 0.0 || a.high < 0.0, a.low == 0.0 && a.high == 0.0 && !a.maybe_nan);
  }
  ValueRange range{semantics::to_integer(a.low), semantics::to_integer(a.high)};
  if (a.maybe_nan) range = {std::min(range.low, 0.0), std::max(range.high, 0.0)};
  return range;
}

ValueRange unary(ExprOp op, ScalarType type, const ValueRange& a) {
  switch (op) {
    case ExprOp::negate:
      return as_type(type, -a.high, -a.low, a.maybe_nan);
    case ExprOp::absolute:
      return absolute(type, a);
    case ExprOp::bit_not:
      return type == ScalarType::boolean ? ValueRange{1.0 - a.high, 1.0 - a.low}
                                         : ValueRange{-1.0 - a.high, -1.0 - a.low};
    case ExprOp::floor:
      return {std::floor(a.low), std::floor(a.high), a.maybe_nan};
    case ExprOp::round:
      return {semantics::round_half_even(a.low), semantics::round_half_even(a.high), a.maybe_nan};
    case ExprOp::sin:
    case ExprOp::cos:
      return oscillating(a);
    case ExprOp::rsqrt: {
      // 1 / sqrt(-0.0) is minus infinity, so 0 itself is left out too.
      if (a.low <= 0.0) return unknown(type);
      return {1.0 / std::sqrt(a.high), 1.0 / std::sqrt(a.low), a.maybe_nan};
    }
    case ExprOp::to_real:
    case ExprOp::to_integer:
    case ExprOp::to_boolean:
      return convert(op, a);
    default:
      return increasing(op, a);
  }
}

ValueRange binary(ExprOp op, ScalarType type, const ValueRange& a, const ValueRange& b) {
  switch (op) {
    case ExprOp::add:
      return corners(type, a, b, [](double x, double y) { return x + y; });
    case ExprOp::subtract:
      return corners(type, a, b, [](double x, double y) { return x - y; });
    case ExprOp::multiply:
      return multiply(type, a, b);
    case ExprOp::divide:
      if (holds_zero(b)) return unknown(type);
      return corners(type, a, b, [](double x, double y) { return x / y; });
    case ExprOp::floor_divide:
      return floor_divide(type, a, b);
    case ExprOp::modulo:
      return modulo(type, a, b);
    case ExprOp::minimum:
      return {std::min(a.low, b.low), std::min(a.high, b.high), a.maybe_nan || b.maybe_nan};
    case ExprOp::maximum:
      return {std::max(a.low, b.low), std::max(a.high, b.high), a.maybe_nan || b.maybe_nan};
    case ExprOp::bit_and:
    case ExprOp::bit_or:
    case ExprOp::bit_xor:
      return bits(op, type, a, b);
    case ExprOp::shift_left:
    case ExprOp::shift_right:
      return shift(op, a, b);
    case ExprOp::fmod:
      return remainder(a, b);
    case ExprOp::power:
      return unknown(type);
    default:
      return compare(op, a, b);
  }
}

ValueRange select(const ValueRange& condition, const ValueRange& if_true, const ValueRange& if_false) {
  if (condition.low == 1.0) return if_true;
  if (condition.high == 0.0) return if_false;
  return {std::min(if_true.low, if_false.low), std::max(if_true.high, if_false.high),
          if_true.maybe_nan || if_false.maybe_nan};
}

ValueRange of_indices(const IndexRange& range) {
  return {static_cast<double>(range.first), static_cast<double>(range.last)};
}

ValueRange axis(const ModExpr& node, const Axes* axes) {
  if (axes == nullptr) return {1.0, k_largest_extent};
  const auto value = static_cast<double>(axes->at(node.name));
  return {value, value};
}

ValueRange constant(const ModExpr& node) {
  const double value = node.type == ScalarType::real ? node.real : static_cast<double>(node.integer);
  return std::isnan(value) ? unknown(node.type) : ValueRange{value, value};
}

ValueRange gather(const ModFunction& mod, const ModExpr& node, const LeafRanges& leaves,
                  const std::vector<ValueRange>& ranges) {
  const auto& capture = mod.capture(node.name);
  if (leaves.bounds == nullptr) return {capture.low, capture.high};
  std::vector<ValueRange> indices;
  for (const auto arg : node.args) indices.push_back(ranges[static_cast<std::size_t>(arg)]);
  return leaves.bounds->range(node.name, indices);
}

/// A count of elements in a row.
ValueRange row_position(const ModFunction& mod, const ModExpr& node, const LeafRanges& leaves) {
  const auto& axis_name = mod.capture(node.name).axes.back();
  return {0.0, leaves.axes == nullptr ? k_largest_extent : static_cast<double>(leaves.axes->at(axis_name))};
}

ValueRange range_of(const ModFunction& mod, const ModExpr& node, const LeafRanges& leaves,
                    const std::vector<ValueRange>& ranges) {
  const auto arg = [&](std::size_t k) -> const ValueRange& { return ranges[static_cast<std::size_t>(node.args[k])]; };
  switch (node.op) {
    case ExprOp::constant:
      return constant(node);
    case ExprOp::score:
      return leaves.score != nullptr ? *leaves.score : unknown(ScalarType::real);
    case ExprOp::batch:
      return of_indices(leaves.tile.batch);
    case ExprOp::head:
      return of_indices(leaves.tile.head);
    case ExprOp::query:
      return of_indices(leaves.tile.query);
    case ExprOp::key:
      return of_indices(leaves.tile.key);
    case ExprOp::axis:
      return axis(node, leaves.axes);
    case ExprOp::select:
      return select(arg(0), arg(1), arg(2));
    case ExprOp::gather:
      return gather(mod, node, leaves, ranges);
    case ExprOp::lower_bound:
    case ExprOp::upper_bound:
      return row_position(mod, node, leaves);
    default:
      return node.args.size() == 1 ? unary(node.op, node.type, arg(0)) : binary(node.op, node.type, arg(0), arg(1));
  }
}

}  // namespace

bool fits_int32(double low, double high) {
  return low >= k_int_low && high <= k_int_high;
}

LeafRanges all_indices() {
  constexpr IndexRange k_any{0, (std::int64_t{1} << 24) - 1};
  return {{k_any, k_any, k_any, k_any}, nullptr, nullptr, nullptr};
}

void extend_ranges(const ModFunction& mod, const LeafRanges& leaves, std::vector<ValueRange>& ranges) {
  while (ranges.size() < mod.nodes.size()) ranges.push_back(range_of(mod, mod.nodes[ranges.size()], leaves, ranges));
}

TileClass classify_tile(const ModFunction& mask, const Axes& axes, const TileRange& tile, const CaptureBounds* bounds) {
  std::vector<ValueRange> ranges;
  ranges.reserve(mask.nodes.size());
  extend_ranges(mask, {tile, &axes, bounds}, ranges);
  const auto& root = ranges[static_cast<std::size_t>(mask.root)];
  if (root.low == 1.0) return TileClass::full;
  return root.high == 0.0 ? TileClass::empty : TileClass::partial;
}

}  // namespace kw
