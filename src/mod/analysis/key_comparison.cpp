#include "mod/analysis/key_comparison.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <utility>

namespace kw {
namespace {

/// How often each term occurs in a sum of sums, differences and negations.
std::map<ExprId, std::int64_t> terms_of(const ExprBuilder& builder, ExprId sum, std::size_t& count) {
  constexpr std::size_t k_most_terms = 64;
  std::map<ExprId, std::int64_t> terms;
  std::vector<std::pair<ExprId, int>> open = {{sum, 1}};
  count = 0;
  while (!open.empty()) {
    const auto [id, sign] = open.back();
    open.pop_back();
    const auto& node = builder.node(id);
    const bool splits = node.op == ExprOp::add || node.op == ExprOp::subtract || node.op == ExprOp::negate;
    if (!splits || open.size() + count > k_most_terms) {
      terms[id] += sign;
      ++count;
      continue;
    }
    const bool flips = node.op != ExprOp::add;
    open.emplace_back(node.args.back(), flips ? -sign : sign);
    if (node.args.size() > 1) open.emplace_back(node.args[0], sign);
  }
  return terms;
}

}  // namespace

ExprOp opposite_comparison(ExprOp op) {
  switch (op) {
    case ExprOp::less:
      return ExprOp::greater_equal;
    case ExprOp::less_equal:
      return ExprOp::greater;
    case ExprOp::greater:
      return ExprOp::less_equal;
    case ExprOp::greater_equal:
      return ExprOp::less;
    case ExprOp::equal:
      return ExprOp::not_equal;
    default:
      return ExprOp::equal;
  }
}

ExprOp mirrored_comparison(ExprOp op) {
  switch (op) {
    case ExprOp::less:
      return ExprOp::greater;
    case ExprOp::less_equal:
      return ExprOp::greater_equal;
    case ExprOp::greater:
      return ExprOp::less;
    case ExprOp::greater_equal:
      return ExprOp::less_equal;
    default:
      return op;
  }
}

std::optional<RowInterval> intersection(const std::optional<RowInterval>& a, const std::optional<RowInterval>& b) {
  if (!a || !b) return std::nullopt;
  RowInterval result = *a;
  const auto merge = [](std::vector<ExprId>& into, const std::vector<ExprId>& from) {
    into.insert(into.end(), from.begin(), from.end());
    std::sort(into.begin(), into.end());
    into.erase(std::unique(into.begin(), into.end()), into.end());
  };
  merge(result.first, b->first);
  merge(result.last, b->last);
  return result;
}

bool KeyComparisons::depends_on_key(ExprId id) {
  extend_dependencies(mask_, depends_);
  return depends_[node_index(id)].key;
}

ValueRange KeyComparisons::range_of(ExprId id) {
  extend_ranges(mask_, all_indices(), ranges_);
  return ranges_[node_index(id)];
}

std::optional<RowInterval> KeyComparisons::solve(ExprOp op, ExprId left, ExprId right) {
  if (op == ExprOp::not_equal) return std::nullopt;
  const auto is = [&](ExprId id, ExprOp wanted) { return builder_.node(id).op == wanted && depends_on_key(id); };
  const auto special = [&](ExprId id) {
    return is(id, ExprOp::absolute) || is(id, ExprOp::gather) || is(id, ExprOp::floor_divide);
  };
  if (special(right) && !special(left)) {
    std::swap(left, right);
    op = mirrored_comparison(op);
  }
  const ModExpr node = builder_.node(left);  // a copy: building moves the nodes
  if (is(left, ExprOp::gather) && !depends_on_key(right)) return sorted(op, node, right);
  if (builder_.type(left) != ScalarType::integer) return std::nullopt;
  if (is(left, ExprOp::floor_divide) && !depends_on_key(right)) return quotient(op, node, right);
  const bool bounded_above = op == ExprOp::less || op == ExprOp::less_equal;
  if (is(left, ExprOp::absolute) && bounded_above) {
    const auto inner = node.args[0];  // abs(x) <= y is x <= y and -x <= y
    return intersection(linear(op, inner, right), linear(op, builder_.unary(ExprOp::negate, inner), right));
  }
  return linear(op, left, right);
}

/// "left op right" when both are linear in the key with slopes that differ by 1.
std::optional<RowInterval> KeyComparisons::linear(ExprOp op, ExprId left, ExprId right) {
  const auto a = exact_linear(left);
  const auto b = exact_linear(right);
  if (!a || !b) return std::nullopt;
  const double slope = a->slope - b->slope;
  if (slope != 1.0 && slope != -1.0) return std::nullopt;
  // key op (b - a), or -key op (b - a), which is key mirrored(op) (a - b)
  const auto bound = slope > 0.0 ? difference(b->intercept, a->intercept) : difference(a->intercept, b->intercept);
  if (!bound) return std::nullopt;
  switch (slope > 0.0 ? op : mirrored_comparison(op)) {
    case ExprOp::less_equal:
      return RowInterval{{}, {*bound}};
    case ExprOp::greater_equal:
      return RowInterval{{*bound}, {}};
    case ExprOp::equal:
      return RowInterval{{*bound}, {*bound}};
    case ExprOp::less: {
      const auto last = exact(ExprOp::subtract, *bound, builder_.integer(1));
      return last ? std::optional(RowInterval{{}, {*last}}) : std::nullopt;
    }
    default: {
      const auto first = exact(ExprOp::add, *bound, builder_.integer(1));
      return first ? std::optional(RowInterval{{*first}, {}}) : std::nullopt;
    }
  }
}

/// x // c op v for a positive c: the quotient is v from x = v * c to v * c + c - 1.
std::optional<RowInterval> KeyComparisons::quotient(ExprOp op, const ModExpr& division, ExprId value) {
  const auto dividend = division.args[0];
  const auto divisor = division.args[1];
  if (depends_on_key(divisor) || range_of(divisor).low < 1.0) return std::nullopt;
  const auto lowest = exact(ExprOp::multiply, value, divisor);
  const auto next = lowest ? exact(ExprOp::add, *lowest, divisor) : std::nullopt;
  if (!next) return std::nullopt;
  switch (op) {
    case ExprOp::less:
      return linear(ExprOp::less, dividend, *lowest);
    case ExprOp::less_equal:
      return linear(ExprOp::less, dividend, *next);
    case ExprOp::greater:
      return linear(ExprOp::greater_equal, dividend, *next);
    case ExprOp::greater_equal:
      return linear(ExprOp::greater_equal, dividend, *lowest);
    default:
      return intersection(linear(ExprOp::greater_equal, dividend, *lowest), linear(ExprOp::less, dividend, *next));
  }
}

/// table[.., key] op v for a table that never decreases along the key.
std::optional<RowInterval> KeyComparisons::sorted(ExprOp op, const ModExpr& gather, ExprId value) {
  const bool at_key = !gather.args.empty() && builder_.node(gather.args.back()).op == ExprOp::key;
  if (!at_key || !mask_.capture(gather.name).sorted || gather.type == ScalarType::boolean) return std::nullopt;
  for (std::size_t i = 0; i + 1 < gather.args.size(); ++i)
    if (depends_on_key(gather.args[i])) return std::nullopt;
  if (range_of(value).maybe_nan) return std::nullopt;  // all comparisons with it are false
  const auto before = [&](ExprOp bound) {
    return builder_.binary(ExprOp::subtract, position(bound, gather, value), builder_.integer(1));
  };
  switch (op) {
    case ExprOp::less:
      return RowInterval{{}, {before(ExprOp::lower_bound)}};
    case ExprOp::less_equal:
      return RowInterval{{}, {before(ExprOp::upper_bound)}};
    case ExprOp::greater:
      return RowInterval{{position(ExprOp::upper_bound, gather, value)}, {}};
    case ExprOp::greater_equal:
      return RowInterval{{position(ExprOp::lower_bound, gather, value)}, {}};
    default:
      return RowInterval{{position(ExprOp::lower_bound, gather, value)}, {before(ExprOp::upper_bound)}};
  }
}

/// Where in the row the value would stand. Keys past the row read its last element: past the end means past them all.
ExprId KeyComparisons::position(ExprOp bound, const ModExpr& gather, ExprId value) {
  const ModCapture capture = mask_.capture(gather.name);
  const std::vector<ExprId> row(gather.args.begin(), gather.args.end() - 1);
  const auto found = builder_.bound(bound, capture, row, value);
  if (capture.axes.back() == "Skv") return found;
  const auto past = builder_.binary(ExprOp::greater_equal, found, builder_.axis(capture.axes.back()));
  return builder_.select(past, builder_.integer(std::numeric_limits<std::int32_t>::max()), found);
}

/// slope * key + intercept with a constant slope, when it cannot leave 32 bits for any index there is.
std::optional<KeyComparisons::ExactLinear> KeyComparisons::exact_linear(ExprId id) {
  const auto form = forms_.of(id);
  if (!form || !forms_.is_exact(*form)) return std::nullopt;
  const auto intercept = form->rest >= 0 ? form->rest : builder_.integer(0);
  if (form->coefficient < 0) return ExactLinear{0.0, intercept};
  if (!builder_.is_constant(form->coefficient)) return std::nullopt;
  return ExactLinear{builder_.constant_value(form->coefficient), intercept};
}

/// The operation on two integers, when its result cannot leave 32 bits.
std::optional<ExprId> KeyComparisons::exact(ExprOp op, ExprId left, ExprId right) {
  const auto a = range_of(left);
  const auto b = range_of(right);
  double low = a.low + b.low;
  double high = a.high + b.high;
  if (op == ExprOp::subtract) {
    low = a.low - b.high;
    high = a.high - b.low;
  } else if (op == ExprOp::multiply) {
    const auto [least, greatest] = std::minmax({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
    low = least;
    high = greatest;
  }
  if (!fits_int32(low, high)) return std::nullopt;
  return builder_.binary(op, left, right);
}

std::optional<ExprId> KeyComparisons::difference(ExprId left, ExprId right) {
  const auto whole = exact(ExprOp::subtract, left, right);
  if (!whole) return std::nullopt;
  std::size_t count = 0;
  const auto terms = terms_of(builder_, *whole, count);
  const bool cancels = std::any_of(terms.begin(), terms.end(), [](const auto& term) { return term.second == 0; });
  if (!cancels) return whole;
  // The same value modulo 2^32, and neither leaves 32 bits.
  std::optional<ExprId> sum;
  for (const auto& [id, times] : terms) {
    if (times == 0) continue;
    if (times != 1 && times != -1) return whole;
    if (!sum && times < 0)
      sum = builder_.unary(ExprOp::negate, id);
    else if (!sum)
      sum = id;
    else
      sum = builder_.binary(times > 0 ? ExprOp::add : ExprOp::subtract, *sum, id);
  }
  return sum ? *sum : builder_.integer(0);
}

}  // namespace kw
