// Proves that a mask lets each row see one interval of keys.

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>

#include "spec/expr_builder.hpp"
#include "spec/mod_analysis.hpp"
#include "spec/mod_linear.hpp"
#include "spec/mod_ranges.hpp"

namespace kw {
namespace {

std::size_t at(ExprId id) {
  return static_cast<std::size_t>(id);
}

/// What is known of a boolean node: the interval on which it holds, and the one on which it does not.
struct Intervals {
  std::optional<RowInterval> holds;
  std::optional<RowInterval> fails;
};

ExprOp opposite(ExprOp op) {
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
/// The operator with its sides exchanged.
ExprOp mirrored(ExprOp op) {
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

class IntervalProver {
 public:
  explicit IntervalProver(ModFunction& mask) : mask_(mask), builder_(mask), forms_(mask, builder_, ExprOp::key) {}

  std::optional<RowInterval> prove() {
    const auto count = at(mask_.root) + 1;
    const auto depends = dependencies(mask_);
    mark_needed(depends);
    known_.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      if (!needs_holds_[i] && !needs_fails_[i]) continue;
      known_[i] = depends[i].key ? of_node(static_cast<ExprId>(i)) : of_row_condition(static_cast<ExprId>(i));
    }
    return known_.back().holds;
  }

 private:
  /// From the root down: which boolean nodes matter, and whether as they stand or negated.
  void mark_needed(const std::vector<Dependencies>& depends) {
    needs_holds_.assign(at(mask_.root) + 1, false);
    needs_fails_ = needs_holds_;
    needs_holds_.back() = true;
    for (std::size_t i = needs_holds_.size(); i-- > 0;) {
      const auto& node = mask_.nodes[i];
      const bool joins = node.op == ExprOp::bit_and || node.op == ExprOp::bit_or || node.op == ExprOp::bit_not;
      if (!joins || !depends[i].key) continue;
      const bool flips = node.op == ExprOp::bit_not;
      for (const auto arg : node.args) {
        needs_holds_[at(arg)] = needs_holds_[at(arg)] || (flips ? needs_fails_[i] : needs_holds_[i]);
        needs_fails_[at(arg)] = needs_fails_[at(arg)] || (flips ? needs_holds_[i] : needs_fails_[i]);
      }
    }
  }

  /// A condition on the row alone lets through all keys or none: its last key is beyond every key, or before all.
  Intervals of_row_condition(ExprId id) {
    const auto all = builder_.integer(std::numeric_limits<std::int32_t>::max());
    const auto none = builder_.integer(-1);
    return {RowInterval{{}, {builder_.select(id, all, none)}}, RowInterval{{}, {builder_.select(id, none, all)}}};
  }

  Intervals of_node(ExprId id) {
    const ModExpr node = mask_.nodes[at(id)];  // a copy: building moves the nodes
    builder_.set_place(node.where);
    switch (node.op) {
      case ExprOp::bit_not: {
        const auto& inner = known_[at(node.args[0])];
        return {inner.fails, inner.holds};
      }
      case ExprOp::bit_and:
        return {both(known_[at(node.args[0])].holds, known_[at(node.args[1])].holds),
                either(known_[at(node.args[0])].fails, known_[at(node.args[1])].fails)};
      case ExprOp::bit_or:
        return {either(known_[at(node.args[0])].holds, known_[at(node.args[1])].holds),
                both(known_[at(node.args[0])].fails, known_[at(node.args[1])].fails)};
      case ExprOp::less:
      case ExprOp::less_equal:
      case ExprOp::greater:
      case ExprOp::greater_equal:
      case ExprOp::equal:
      case ExprOp::not_equal:
        return {needs_holds_[at(id)] ? comparison(node.op, node.args[0], node.args[1]) : std::nullopt,
                needs_fails_[at(id)] ? comparison(opposite(node.op), node.args[0], node.args[1]) : std::nullopt};
      default:
        return {};
    }
  }

  std::optional<RowInterval> comparison(ExprOp op, ExprId left, ExprId right) {
    if (builder_.type(left) != ScalarType::integer || op == ExprOp::not_equal) return std::nullopt;
    if (builder_.node(right).op == ExprOp::absolute) {
      std::swap(left, right);
      op = mirrored(op);
    }
    const bool upper_bound = op == ExprOp::less || op == ExprOp::less_equal;
    if (builder_.node(left).op == ExprOp::absolute && upper_bound) {
      const auto inner = builder_.node(left).args[0];  // abs(x) <= y is x <= y and -x <= y
      return both(linear_comparison(op, inner, right),
                  linear_comparison(op, builder_.unary(ExprOp::negate, inner), right));
    }
    return linear_comparison(op, left, right);
  }

  /// Solves "left op right" for the key when both are linear in it with slopes that differ by 1.
  std::optional<RowInterval> linear_comparison(ExprOp op, ExprId left, ExprId right) {
    const auto a = exact_linear(left);
    const auto b = exact_linear(right);
    if (!a || !b) return std::nullopt;
    const double slope = a->slope - b->slope;
    if (slope != 1.0 && slope != -1.0) return std::nullopt;
    // key op (b - a), or -key op (b - a), which is key mirrored(op) (a - b)
    const auto bound =
        slope > 0.0 ? exact_difference(b->intercept, a->intercept) : exact_difference(a->intercept, b->intercept);
    if (!bound) return std::nullopt;
    switch (slope > 0.0 ? op : mirrored(op)) {
      case ExprOp::less_equal:
        return RowInterval{{}, {*bound}};
      case ExprOp::greater_equal:
        return RowInterval{{*bound}, {}};
      case ExprOp::equal:
        return RowInterval{{*bound}, {*bound}};
      case ExprOp::less: {
        const auto last = exact_difference(*bound, builder_.integer(1));
        return last ? std::optional(RowInterval{{}, {*last}}) : std::nullopt;
      }
      default: {
        const auto first = exact_difference(*bound, builder_.integer(-1));
        return first ? std::optional(RowInterval{{*first}, {}}) : std::nullopt;
      }
    }
  }

  struct ExactLinear {
    double slope = 0.0;
    ExprId intercept = -1;
  };
  /// slope * key + intercept with a constant slope, when it cannot leave 32 bits for any index there is.
  std::optional<ExactLinear> exact_linear(ExprId id) {
    const auto form = forms_.of(id);
    if (!form || !forms_.is_exact(*form)) return std::nullopt;
    const auto intercept = form->rest >= 0 ? form->rest : builder_.integer(0);
    if (form->coefficient < 0) return ExactLinear{0.0, intercept};
    if (!builder_.is_constant(form->coefficient)) return std::nullopt;
    return ExactLinear{builder_.constant_value(form->coefficient), intercept};
  }

  std::optional<ExprId> exact_difference(ExprId left, ExprId right) {
    const auto a = range_of(left);
    const auto b = range_of(right);
    if (!fits_int32(a.low - b.high, a.high - b.low)) return std::nullopt;
    return builder_.binary(ExprOp::subtract, left, right);
  }

  const ValueRange& range_of(ExprId id) {
    extend_ranges(mask_, all_indices(), ranges_);
    return ranges_[at(id)];
  }

  /// The intersection. Lists are kept without repetition, so that shared nodes cannot make them grow without bound.
  static std::optional<RowInterval> both(const std::optional<RowInterval>& a, const std::optional<RowInterval>& b) {
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

  /// The union, where it is an interval for sure: both begin at key 0, or both reach the last key.
  std::optional<RowInterval> either(const std::optional<RowInterval>& a, const std::optional<RowInterval>& b) {
    if (!a || !b) return std::nullopt;
    if (a->first.empty() && b->first.empty()) {
      if (a->last.empty() || b->last.empty()) return RowInterval{};
      return RowInterval{{}, {joined(ExprOp::maximum, ExprOp::minimum, a->last, b->last)}};
    }
    if (a->last.empty() && b->last.empty()) {
      if (a->first.empty() || b->first.empty()) return RowInterval{};
      return RowInterval{{joined(ExprOp::minimum, ExprOp::maximum, a->first, b->first)}, {}};
    }
    return std::nullopt;
  }
  ExprId joined(ExprOp outer, ExprOp inner, const std::vector<ExprId>& a, const std::vector<ExprId>& b) {
    const auto fold = [&](const std::vector<ExprId>& list) {
      auto node = list.front();
      for (std::size_t i = 1; i < list.size(); ++i) node = builder_.binary(inner, node, list[i]);
      return node;
    };
    const auto left = fold(a);
    return builder_.binary(outer, left, fold(b));
  }

  ModFunction& mask_;
  ExprBuilder builder_;
  LinearForms forms_;
  std::vector<bool> needs_holds_;
  std::vector<bool> needs_fails_;
  std::vector<Intervals> known_;
  std::vector<ValueRange> ranges_;
};

}  // namespace

std::optional<RowInterval> row_interval(ModFunction& mask) {
  return IntervalProver(mask).prove();
}

}  // namespace kw
