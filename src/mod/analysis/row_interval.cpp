// Proves that a mask lets each row see one interval of keys.

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "mod/analysis/analysis.hpp"
#include "mod/analysis/key_comparison.hpp"
#include "mod/analysis/linear.hpp"
#include "mod/expression/expr_builder.hpp"

namespace kw {
namespace {

/// What is known of a boolean node: the interval on which it holds, and the one on which it does not.
struct Intervals {
  std::optional<RowInterval> holds;
  std::optional<RowInterval> fails;
};

class IntervalProver {
 public:
  explicit IntervalProver(ModFunction& mask) : mask_(mask), builder_(mask), comparisons_(mask, builder_) {}

  std::optional<RowInterval> prove() {
    root_ = with_equalities_used(mask_.root);
    mark_needed();
    known_.resize(node_index(root_) + 1);
    for (std::size_t i = 0; i < known_.size(); ++i) {
      if (!needs_holds_[i] && !needs_fails_[i]) continue;
      const auto id = static_cast<ExprId>(i);
      known_[i] = depends_on_key(id) ? of_node(id) : of_row_condition(id);
    }
    return known_.back().holds;
  }

 private:
  /// From the root down: which boolean nodes matter, and whether as they stand or negated.
  void mark_needed() {
    needs_holds_.assign(node_index(root_) + 1, false);
    needs_fails_ = needs_holds_;
    needs_holds_.back() = true;
    for (std::size_t i = needs_holds_.size(); i-- > 0;) {
      const auto& node = mask_.nodes[i];
      const bool chooses = node.op == ExprOp::select && !depends_on_key(node.args[0]);
      const bool joins = node.op == ExprOp::bit_and || node.op == ExprOp::bit_or || node.op == ExprOp::bit_not;
      if (!(joins || chooses) || !depends_on_key(static_cast<ExprId>(i))) continue;
      const bool flips = node.op == ExprOp::bit_not;
      for (const auto arg : std::span(node.args).subspan(chooses ? 1 : 0)) {
        needs_holds_[node_index(arg)] = needs_holds_[node_index(arg)] || (flips ? needs_fails_[i] : needs_holds_[i]);
        needs_fails_[node_index(arg)] = needs_fails_[node_index(arg)] || (flips ? needs_holds_[i] : needs_fails_[i]);
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
    const ModExpr node = mask_.nodes[node_index(id)];  // a copy: building moves the nodes
    builder_.set_place(node.where);
    switch (node.op) {
      case ExprOp::bit_not: {
        const auto& inner = known_[node_index(node.args[0])];
        return {inner.fails, inner.holds};
      }
      case ExprOp::bit_and:
        return {intersection(known_[node_index(node.args[0])].holds, known_[node_index(node.args[1])].holds),
                either(known_[node_index(node.args[0])].fails, known_[node_index(node.args[1])].fails)};
      case ExprOp::bit_or:
        return {either(known_[node_index(node.args[0])].holds, known_[node_index(node.args[1])].holds),
                intersection(known_[node_index(node.args[0])].fails, known_[node_index(node.args[1])].fails)};
      case ExprOp::less:
      case ExprOp::less_equal:
      case ExprOp::greater:
      case ExprOp::greater_equal:
      case ExprOp::equal:
      case ExprOp::not_equal:
        return {needs_holds_[node_index(id)] ? comparisons_.solve(node.op, node.args[0], node.args[1]) : std::nullopt,
                needs_fails_[node_index(id)] ? negated_comparison(node) : std::nullopt};
      case ExprOp::select:
        return chosen(node);
      default:
        return {};
    }
  }

  std::optional<RowInterval> negated_comparison(const ModExpr& node) {
    // A comparison with a NaN fails, and so does its opposite.
    const bool nan = comparisons_.range_of(node.args[0]).maybe_nan || comparisons_.range_of(node.args[1]).maybe_nan;
    if (nan) return std::nullopt;
    return comparisons_.solve(opposite_comparison(node.op), node.args[0], node.args[1]);
  }

  [[nodiscard]] bool depends_on_key(ExprId id) {
    extend_dependencies(mask_, depends_);
    return depends_[node_index(id)].key;
  }

  /// Where the mask is a conjunction with "x == y" and only x depends on the key, the other conditions may read y for
  /// x: positions within documents then become differences of indices.
  ExprId with_equalities_used(ExprId root) {
    constexpr std::size_t k_affordable = 200'000;  // nodes looked at; a hostile mask may have thousands of each
    std::vector<ExprId> conditions = conjunction(root);
    std::size_t looked_at = 0;
    bool changed = false;
    for (const auto equality : conditions) {
      const ModExpr node = builder_.node(equality);
      if (node.op != ExprOp::equal || builder_.type(node.args[0]) != ScalarType::integer) continue;
      const bool left = depends_on_key(node.args[0]);
      if (left == depends_on_key(node.args[1])) continue;
      for (auto& condition : conditions) {
        looked_at += node_index(condition);
        if (condition == equality || looked_at > k_affordable) continue;
        const auto now = replaced(condition, node.args[left ? 0 : 1], node.args[left ? 1 : 0]);
        changed = changed || now != condition;
        condition = now;
      }
    }
    return changed ? folded(ExprOp::bit_and, conditions) : root;
  }

  [[nodiscard]] std::vector<ExprId> conjunction(ExprId root) const {
    std::vector<ExprId> open = {root};
    std::vector<ExprId> conditions;
    while (!open.empty()) {
      const auto& node = builder_.node(open.back());
      const auto id = open.back();
      open.pop_back();
      if (node.op != ExprOp::bit_and)
        conditions.push_back(id);
      else
        open.insert(open.end(), {node.args[1], node.args[0]});
    }
    return conditions;
  }

  /// `root` with every use of `from` made a use of `to`, which does not depend on it.
  ExprId replaced(ExprId root, ExprId from, ExprId to) {
    std::vector<bool> used(node_index(root) + 1, false);
    used.back() = true;
    for (std::size_t i = used.size(); i-- > 0;) {
      if (!used[i] || static_cast<ExprId>(i) == from) continue;
      for (const auto arg : mask_.nodes[i].args) used[node_index(arg)] = true;
    }
    std::vector<ExprId> now(used.size(), -1);
    for (std::size_t i = 0; i < used.size(); ++i) {
      const auto id = static_cast<ExprId>(i);
      if (used[i]) now[i] = id == from ? to : rebuilt(id, now);
    }
    return now.back();
  }
  ExprId rebuilt(ExprId id, const std::vector<ExprId>& now) {
    const ModExpr node = builder_.node(id);  // a copy: building moves the nodes
    const auto arg = [&](std::size_t k) { return now[node_index(node.args[k])]; };
    bool same = true;
    for (const auto a : node.args) same = same && now[node_index(a)] == a;
    if (same) return id;
    builder_.set_place(node.where);
    if (node.op == ExprOp::gather) {
      std::vector<ExprId> indices;
      for (const auto a : node.args) indices.push_back(now[node_index(a)]);
      return builder_.gather(mask_.capture(node.name), indices);
    }
    if (node.op == ExprOp::lower_bound || node.op == ExprOp::upper_bound) return id;  // only analyses make them
    if (node.op == ExprOp::select) return builder_.select(arg(0), arg(1), arg(2));
    return node.args.size() == 1 ? builder_.unary(node.op, arg(0)) : builder_.binary(node.op, arg(0), arg(1));
  }

  /// A condition on the row alone chooses between two masks.
  Intervals chosen(const ModExpr& node) {
    if (depends_on_key(node.args[0])) return {};
    const auto& a = known_[node_index(node.args[1])];
    const auto& b = known_[node_index(node.args[2])];
    return {one_of(node.args[0], a.holds, b.holds), one_of(node.args[0], a.fails, b.fails)};
  }
  std::optional<RowInterval> one_of(ExprId condition, const std::optional<RowInterval>& a,
                                    const std::optional<RowInterval>& b) {
    if (!a || !b) return std::nullopt;
    RowInterval result;
    const auto zero = builder_.integer(0);
    const auto every = builder_.integer(std::numeric_limits<std::int32_t>::max());
    const auto fold = [&](ExprOp op, const std::vector<ExprId>& list, ExprId none) {
      return list.empty() ? none : folded(op, list);
    };
    if (!a->first.empty() || !b->first.empty()) {
      const auto first = fold(ExprOp::maximum, a->first, zero);
      result.first = {builder_.select(condition, first, fold(ExprOp::maximum, b->first, zero))};
    }
    if (!a->last.empty() || !b->last.empty()) {
      const auto last = fold(ExprOp::minimum, a->last, every);
      result.last = {builder_.select(condition, last, fold(ExprOp::minimum, b->last, every))};
    }
    return result;
  }

  /// The condition of an interval that of_row_condition made.
  [[nodiscard]] std::optional<ExprId> row_condition(const RowInterval& interval) {
    if (!interval.first.empty() || interval.last.size() != 1) return std::nullopt;
    const ModExpr node = builder_.node(interval.last[0]);
    if (node.op != ExprOp::select || !builder_.is_constant(node.args[1]) || !builder_.is_constant(node.args[2]))
      return std::nullopt;
    const double all = std::numeric_limits<std::int32_t>::max();
    if (builder_.constant_value(node.args[1]) == all && builder_.constant_value(node.args[2]) == -1.0)
      return node.args[0];
    if (builder_.constant_value(node.args[1]) == -1.0 && builder_.constant_value(node.args[2]) == all)
      return builder_.unary(ExprOp::bit_not, node.args[0]);
    return std::nullopt;
  }

  /// Whether every row's `last` is at least its `first` + `by`.
  bool reaches(const std::vector<ExprId>& last, const std::vector<ExprId>& first, double by) {
    for (const auto end : last) {
      for (const auto begin : first) {
        const auto distance = comparisons_.difference(end, begin);
        if (!distance || comparisons_.range_of(*distance).low < by) return false;
      }
    }
    return true;
  }

  /// The union, where it is an interval for sure: both begin at key 0, or both reach the last key, or one is all keys
  /// or none, or neither is ever empty and they touch.
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
    if (const auto condition = row_condition(*a)) return one_of(*condition, RowInterval{}, b);
    if (const auto condition = row_condition(*b)) return one_of(*condition, RowInterval{}, a);
    const bool never_empty = reaches(a->last, a->first, 0.0) && reaches(b->last, b->first, 0.0);
    if (!never_empty || !reaches(a->last, b->first, -1.0) || !reaches(b->last, a->first, -1.0)) return std::nullopt;
    RowInterval hull;
    if (!a->first.empty() && !b->first.empty())
      hull.first = {joined(ExprOp::minimum, ExprOp::maximum, a->first, b->first)};
    if (!a->last.empty() && !b->last.empty()) hull.last = {joined(ExprOp::maximum, ExprOp::minimum, a->last, b->last)};
    return hull;
  }
  ExprId folded(ExprOp op, const std::vector<ExprId>& list) {
    auto node = list.front();
    for (std::size_t i = 1; i < list.size(); ++i) node = builder_.binary(op, node, list[i]);
    return node;
  }
  ExprId joined(ExprOp outer, ExprOp inner, const std::vector<ExprId>& a, const std::vector<ExprId>& b) {
    const auto left = folded(inner, a);
    return builder_.binary(outer, left, folded(inner, b));
  }

  ModFunction& mask_;
  ExprBuilder builder_;
  KeyComparisons comparisons_;
  ExprId root_ = -1;
  std::vector<Dependencies> depends_;
  std::vector<bool> needs_holds_;
  std::vector<bool> needs_fails_;
  std::vector<Intervals> known_;
};

}  // namespace

std::optional<RowInterval> row_interval(ModFunction& mask) {
  return IntervalProver(mask).prove();
}

}  // namespace kw
