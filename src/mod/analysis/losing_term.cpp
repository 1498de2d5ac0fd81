#include "mod/analysis/losing_term.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "mod/analysis/analysis.hpp"
#include "mod/analysis/ranges.hpp"
#include "mod/expression/copy.hpp"

namespace kw {
namespace {

constexpr double k_unbounded = std::numeric_limits<double>::infinity();
/// exp(-110) is 0 in f32, beside a sum of at least 1; twice that, because terms of 2^24 and what is added to them are
/// rounded to multiples of 2 and 4.
constexpr double k_rounded_margin = 220.0;
/// A hostile mod may have thousands.
constexpr std::size_t k_most_term_nodes = 1000;

double largest_magnitude(const ValueRange& range) {
  if (range.maybe_nan) return k_unbounded;
  return std::max(std::fabs(range.low), std::fabs(range.high));
}

/// A value as a sum of a term, of the indices alone, and a rest that is at most `rest` away from 0.
struct SplitValue {
  ExprId term = -1;  ///< of the new function; -1: the value is all rest
  double rest = 0.0;
  double largest = 0.0;  ///< of the term, either way
  bool captured = false;
};

class TermSplitter {
 public:
  TermSplitter(const ModFunction& from, ExprBuilder& to, double score_bound)
      : from_(from), to_(to), inputs_(dependencies(from)), score_bound_(score_bound) {
    auto leaves = all_indices();
    const ValueRange score{-score_bound, score_bound};
    leaves.score = &score;
    extend_ranges(from, leaves, ranges_);
    for (const auto& node : from.nodes) {
      bool reads = node.op == ExprOp::gather;
      for (const auto arg : node.args) reads = reads || captured_[node_index(arg)];
      captured_.push_back(reads);
    }
  }

  SplitValue split(ExprId id) {
    if (const auto found = known_.find(id); found != known_.end()) return found->second;
    return known_[id] = split_new(id);
  }

 private:
  SplitValue split_new(ExprId id) {
    const auto at = node_index(id);
    const auto& node = from_.nodes[at];
    const double largest = largest_magnitude(ranges_[at]);
    if (!inputs_[at].score) {
      if (largest <= score_bound_) return {-1, largest, 0.0, false};
      return {copied(from_, id, to_), 0.0, largest, captured_[at]};
    }
    if (largest <= k_ordinary_term) return {-1, largest, 0.0, false};
    if (node.op == ExprOp::add || node.op == ExprOp::subtract) return sum(node);
    if (node.op == ExprOp::select && !inputs_[node_index(node.args[0])].score) return choice(node);
    return {-1, k_unbounded, 0.0, false};
  }

  SplitValue sum(const ModExpr& node) {
    auto left = split(node.args[0]);
    auto right = split(node.args[1]);
    // Of two terms the one that is known to be ordinary joins the rest.
    if (left.term >= 0 && right.term >= 0) {
      const bool left_joins = left.captured != right.captured ? right.captured : left.largest < right.largest;
      auto& joining = left_joins ? left : right;
      joining = {-1, joining.rest + joining.largest, 0.0, false};
    }
    SplitValue whole{-1, left.rest + right.rest, std::max(left.largest, right.largest),
                     left.captured || right.captured};
    if (left.term >= 0) whole.term = left.term;
    if (right.term >= 0) {
      whole.term = node.op == ExprOp::add ? right.term : to_.unary(ExprOp::negate, right.term);
    }
    return whole;
  }

  SplitValue choice(const ModExpr& node) {
    const auto yes = split(node.args[1]);
    const auto no = split(node.args[2]);
    SplitValue whole{-1, std::max(yes.rest, no.rest), std::max(yes.largest, no.largest), yes.captured || no.captured};
    if (yes.term < 0 && no.term < 0) return whole;
    const auto term_of = [&](const SplitValue& part) { return part.term >= 0 ? part.term : to_.real(0.0); };
    const auto condition = copied(from_, node.args[0], to_);
    whole.term = to_.select(condition, term_of(yes), term_of(no));
    whole.captured = whole.captured || captured_[node_index(node.args[0])];
    return whole;
  }

  const ModFunction& from_;
  ExprBuilder& to_;
  std::vector<Dependencies> inputs_;
  double score_bound_;
  std::vector<ValueRange> ranges_;
  std::vector<bool> captured_;
  std::map<ExprId, SplitValue> known_;
};

/// Whether an element of a mask comes into the value, other than as an index of another element.
bool reads_mask(const ModFunction& mod, ExprId root, const MaskTest& may_be_mask) {
  std::vector<bool> reads;
  for (const auto& node : mod.nodes) {
    const auto reads_one = [&](ExprId arg) { return reads[node_index(arg)]; };
    reads.push_back(node.op == ExprOp::gather ? may_be_mask(node.name)
                                              : std::any_of(node.args.begin(), node.args.end(), reads_one));
  }
  return reads[node_index(root)];
}

}  // namespace

double losing_limit(double largest, double distance) {
  return std::fabs(largest) <= k_ordinary_term ? largest - distance : -k_unbounded;
}

std::optional<LosingTerm> losing_term(const std::optional<ModFunction>& score_mod,
                                      const std::optional<ModFunction>& mask_mod, double score_bound,
                                      const MaskTest& may_be_mask) {
  if (!score_mod || score_mod->nodes.size() > k_most_term_nodes) return std::nullopt;
  LosingTerm losing;
  losing.term.name = score_mod->name;
  losing.term.source = score_mod->source;
  ExprBuilder builder(losing.term);
  const auto split = TermSplitter(*score_mod, builder, score_bound).split(score_mod->root);
  if (split.term < 0 || split.rest > k_ordinary_term) return std::nullopt;
  if (!reads_mask(losing.term, split.term, may_be_mask)) return std::nullopt;
  losing.distance = 2.0 * split.rest + k_rounded_margin;
  losing.term.root = split.term;
  if (mask_mod) {
    const auto allowed = copied(*mask_mod, mask_mod->root, builder);
    losing.term.root = builder.select(allowed, split.term, builder.real(-k_unbounded));
  }
  losing.term = in_normal_order(losing.term);
  if (!dependencies(losing.term)[node_index(losing.term.root)].key) return std::nullopt;
  return losing;
}

}  // namespace kw
