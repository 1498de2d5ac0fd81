#include "mod/analysis/masked_scores.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "mod/analysis/analysis.hpp"
#include "mod/analysis/key_comparison.hpp"
#include "mod/analysis/ranges.hpp"
#include "mod/expression/copy.hpp"

namespace kw {
namespace {

/// exp(-110) is 0 in f32, beside a sum of at least 1.
constexpr double k_margin = 110.0;
/// A hostile mod may have thousands of each.
constexpr std::size_t k_most_conditions = 16;
constexpr std::size_t k_most_nodes = 1000;

/// A condition of the score_mod, the root of a function of its own, and the value that keeps a key.
struct KeptWhere {
  ModFunction condition;
  bool value = true;
};

/// What a score_mod is where all of its conditions keep the key.
struct Parted {
  ModFunction score;
  std::vector<KeptWhere> conditions;
  double highest_lost = -std::numeric_limits<double>::infinity();
};

ModFunction copy_of(const ModFunction& from, ExprId root, const std::map<ExprId, bool>& assumed = {}) {
  ModFunction result;
  result.name = from.name;
  result.source = from.source;
  ExprBuilder builder(result);
  std::map<ExprId, ExprId> instead;
  for (const auto& [id, value] : assumed) instead[id] = builder.boolean(value);
  result.root = copied(from, root, builder, instead);
  return in_normal_order(result);
}

ValueRange range_of_root(const ModFunction& mod, double score_bound) {
  auto leaves = all_indices();
  const ValueRange score{-score_bound, score_bound};
  leaves.score = &score;
  std::vector<ValueRange> ranges;
  extend_ranges(mod, leaves, ranges);
  return ranges[node_index(mod.root)];
}

/// Booleans that choose between values by the key, and not by the score.
std::vector<ExprId> conditions_of(const ModFunction& mod) {
  const auto depends = dependencies(mod);
  std::set<ExprId> found;
  for (const auto& node : mod.nodes) {
    const bool converts = node.op == ExprOp::to_real || node.op == ExprOp::to_integer;
    if (node.op != ExprOp::select && !converts) continue;
    const auto id = node.args[0];
    const bool boolean = mod.nodes[node_index(id)].type == ScalarType::boolean;
    if (boolean && depends[node_index(id)].key && !depends[node_index(id)].score) found.insert(id);
  }
  return {found.begin(), found.end()};
}

/// Takes out one condition of which a value makes every score at most `most`; false when there is none.
bool take_one_out(Parted& parted, double most, double score_bound) {
  const auto conditions = conditions_of(parted.score);
  if (conditions.size() > k_most_conditions || parted.score.nodes.size() > k_most_nodes) return false;
  for (const auto id : conditions) {
    for (const bool loses : {false, true}) {
      const auto lost = range_of_root(copy_of(parted.score, parted.score.root, {{id, loses}}), score_bound);
      if (lost.maybe_nan || lost.high > most) continue;
      parted.highest_lost = std::max(parted.highest_lost, lost.high);
      parted.conditions.push_back({copy_of(parted.score, id), !loses});
      parted.score = copy_of(parted.score, parted.score.root, {{id, !loses}});
      return true;
    }
  }
  return false;
}

Parted part(const ModFunction& score_mod, double most, double score_bound) {
  Parted parted{score_mod, {}};
  bool found = true;
  while (found && parted.conditions.size() < k_most_conditions) found = take_one_out(parted, most, score_bound);
  return parted;
}

/// `base` and all of the conditions; every key where there is neither. `name` for a mask without a base.
ModFunction joined(const std::optional<ModFunction>& base, const std::vector<KeptWhere>& conditions,
                   const std::string& name) {
  ModFunction mask;
  mask.name = name;
  ExprBuilder builder(mask);
  mask.root = base ? copied(*base, base->root, builder) : builder.boolean(true);
  for (const auto& [condition, value] : conditions) {
    const auto holds = copied(condition, condition.root, builder);
    const auto keeps = value ? holds : builder.unary(ExprOp::bit_not, holds);
    mask.root = builder.binary(ExprOp::bit_and, mask.root, keeps);
  }
  if (base) {
    mask.name = base->name;
    mask.source = base->source;
  }
  return in_normal_order(mask);
}

/// Whether the mask lets every row see the key that `leaf` stands for, or key 0.
bool sees(const ModFunction& mask, std::optional<ExprOp> leaf) {
  ModFunction at_key;
  ExprBuilder builder(at_key);
  std::map<ExprId, ExprId> instead;
  for (std::size_t i = 0; i < mask.nodes.size(); ++i) {
    if (mask.nodes[i].op == ExprOp::key)
      instead[static_cast<ExprId>(i)] = leaf ? builder.leaf(*leaf) : builder.integer(0);
  }
  at_key.root = copied(mask, mask.root, builder, instead);
  return range_of_root(in_normal_order(at_key), 0.0).low == 1.0;
}

/// A condition that holds for every row of which the mask, one interval of keys, lets no key through; nothing where the
/// mask is not proved to be one. Appends nodes to `mask`.
std::optional<ExprId> no_key_seen(ModFunction& mask) {
  const auto interval = row_interval(mask);
  if (!interval) return std::nullopt;
  ExprBuilder builder(mask);
  KeyComparisons comparisons(mask, builder);
  auto firsts = interval->first;
  auto lasts = interval->last;
  firsts.push_back(builder.integer(0));
  lasts.push_back(builder.binary(ExprOp::subtract, builder.axis("Skv"), builder.integer(1)));
  auto none = builder.boolean(false);
  for (const auto first : firsts) {
    for (const auto last : lasts) {
      const auto distance = comparisons.difference(last, first);
      if (distance && comparisons.range_of(*distance).low >= 0.0) continue;
      none = builder.binary(ExprOp::bit_or, none, builder.binary(ExprOp::less, last, first));
    }
  }
  return none;
}

/// Rows for which `condition` of `mask` holds see what `all` lets through; the others keep the mask.
ModFunction with_all_where(ModFunction mask, ExprId condition, const ModFunction& all) {
  ExprBuilder builder(mask);
  const auto every = copied(all, all.root, builder);
  mask.root = builder.select(condition, every, mask.root);
  return in_normal_order(mask);
}

std::optional<ModFunction> unless_trivial(const ModFunction& mod) {
  const auto& root = mod.nodes[node_index(mod.root)];
  const bool bare = root.op == ExprOp::score;
  const bool every_key = root.op == ExprOp::constant && root.type == ScalarType::boolean && root.integer != 0;
  return bare || every_key ? std::nullopt : std::optional(mod);
}

}  // namespace

MaskedMods with_masks_apart(const std::optional<ModFunction>& score_mod, const std::optional<ModFunction>& mask_mod,
                            double score_bound) {
  const MaskedMods as_before{score_mod, mask_mod};
  if (!score_mod) return as_before;
  const auto exact = part(*score_mod, -std::numeric_limits<double>::infinity(), score_bound);
  const auto losing = part(exact.score, -score_bound - k_margin, score_bound);
  const auto all = joined(mask_mod, exact.conditions, score_mod->name);
  MaskedMods apart = as_before;
  if (!exact.conditions.empty()) apart = {unless_trivial(exact.score), unless_trivial(all), true};

  const auto kept = range_of_root(losing.score, score_bound);
  if (losing.conditions.empty() || kept.maybe_nan || kept.low < losing.highest_lost + k_margin) return apart;
  auto mask = joined(all, losing.conditions, score_mod->name);
  if (sees(mask, std::nullopt)) return {unless_trivial(losing.score), mask, true};
  if (const auto none = no_key_seen(mask)) {
    const auto& empty = mask.nodes[node_index(*none)];
    if (empty.op == ExprOp::constant && empty.integer == 0)
      return {unless_trivial(losing.score), in_normal_order(mask), true};
    return {exact.score, with_all_where(std::move(mask), *none, all), true};
  }
  if (!sees(mask, ExprOp::query)) return apart;
  // Key q_idx wins, where there is one.
  ExprBuilder builder(mask);
  const auto past = builder.binary(ExprOp::greater_equal, builder.leaf(ExprOp::query), builder.axis("Skv"));
  return {exact.score, with_all_where(std::move(mask), past, all), true};
}

}  // namespace kw
