#include "operators/program/kernels/contraction.hpp"

#include <algorithm>
#include <cmath>

#include "operators/program/kernels/affine_index.hpp"
#include "program/stages/rewrite.hpp"
#include "program/stages/work.hpp"

namespace kw {
namespace {

bool names_all_of(const std::set<std::string>& axes, const std::set<std::string>& some) {
  return std::includes(axes.begin(), axes.end(), some.begin(), some.end());
}

void add_multiplicands(const StageExpr& node, std::vector<StageExpr>& factors) {
  if (node->op == StageOp::multiply && node->type == StageType::real) {
    for (const auto& operand : node->operands) add_multiplicands(operand, factors);
  } else {
    factors.push_back(node);
  }
}

/// Two factors of the body: those multiplicands that `which` has bits for, and the others.
std::pair<StageExpr, StageExpr> parted(const std::vector<StageExpr>& multiplicands, unsigned which) {
  std::pair<StageExpr, StageExpr> factors;
  for (std::size_t i = 0; i < multiplicands.size(); ++i) {
    auto& factor = ((which >> i) & 1U) != 0 ? factors.first : factors.second;
    factor = factor ? factor * multiplicands[i] : multiplicands[i];
  }
  return factors;
}

bool loads_something(const StageExpr& expression) {
  bool loads = false;
  for_each_load(expression, [&](const StageNode&) { loads = true; });
  return loads;
}

/// The integers that an expression is made of, as sums of axes without their constants.
void add_varying_parts(const StageExpr& node, const std::set<std::string>& phases, std::vector<AffineIndex>& parts) {
  if (node->type == StageType::integer) {
    if (auto part = affine_index(node, phases); part && !(part->coefficients.empty() && part->terms.empty())) {
      part->constant = 0;
      parts.push_back(*std::move(part));
    }
  }
  for (const auto& operand : node->operands) add_varying_parts(operand, phases, parts);
}

/// Whether the guard bounds an index of the factor's loads: without it, the factor would read outside of a tensor.
bool protects(const StageExpr& guard, const ContractionFactor& factor, const std::set<std::string>& phases) {
  std::vector<AffineIndex> bounded;
  add_varying_parts(guard, phases, bounded);
  bool found = false;
  for_each_load(factor.element, [&](const StageNode& load) {
    for (const auto& operand : load.operands) {
      auto index = affine_index(operand, phases);
      if (!index) continue;
      index->constant = 0;
      const auto same = [&](const AffineIndex& one) { return same_affine(one, *index); };
      found = found || std::any_of(bounded.begin(), bounded.end(), same);
    }
  });
  return found;
}

/// A guard goes to every factor whose loads it protects, and else to one that has its axes: first to the one with
/// columns, which is copied in any case.
bool give_guards(Contraction& contraction) {
  for (const auto& guard : contraction.split.stage.guards) {
    const auto named = axes_named(guard);
    bool given = false;
    for (auto* factor : {&contraction.first, &contraction.second}) {
      const bool needed = protects(guard, *factor, contraction.split.phases);
      if (!needed || !names_all_of(factor->axes, named)) continue;
      factor->guards.push_back(guard);
      given = true;
    }
    if (given) continue;
    const bool to_second = names_all_of(contraction.second.axes, named);
    if (!to_second && !names_all_of(contraction.first.axes, named)) return false;
    (to_second ? contraction.second : contraction.first).guards.push_back(guard);
  }
  return true;
}

std::optional<Contraction> with_factors(const SplitStage& split, const StageExpr& first, const StageExpr& second) {
  if (!loads_something(first) || !loads_something(second)) return std::nullopt;
  Contraction contraction;
  contraction.split = split;
  contraction.first = {first, {}, axes_named(first)};
  contraction.second = {second, {}, axes_named(second)};
  // A phase without taps concerns both.
  for (const auto& guard : split.stage.guards) {
    const auto named = axes_named(guard);
    if (!names_all_of(split.phases, named)) continue;
    contraction.first.axes.insert(named.begin(), named.end());
    contraction.second.axes.insert(named.begin(), named.end());
  }
  for (const auto& axis : split.stage.axes) {
    const bool in_first = contraction.first.axes.count(axis.name) > 0;
    const bool in_second = contraction.second.axes.count(axis.name) > 0;
    if (!in_first && !in_second) return std::nullopt;
    auto& axes = !in_second ? contraction.rows : !in_first ? contraction.columns : contraction.batch;
    axes.push_back(axis);
  }
  contraction.inner = split.stage.inner;
  std::stable_sort(contraction.inner.begin(), contraction.inner.end(),
                   [](const StageAxis& a, const StageAxis& b) { return a.extent.value() > b.extent.value(); });
  if (!give_guards(contraction)) return std::nullopt;
  return contraction;
}

/// Whether the extents that its kernels are written with can be expressed for every binding of the axes.
bool counts_are_known(const Contraction& contraction) {
  StageAxes all;
  for (const auto* axes : {&contraction.batch, &contraction.rows, &contraction.columns, &contraction.inner}) {
    if (!has_extents(*axes)) return false;
    if (axes != &contraction.inner) all.insert(all.end(), axes->begin(), axes->end());
  }
  return has_extents(all);
}

/// Less than this is done as soon as a copy of a factor would be.
bool worth_tiles(const Contraction& contraction) {
  constexpr double k_least_side = 4.0;
  constexpr double k_least_columns = 8.0;
  constexpr double k_least_products = 8192.0;
  constexpr double k_most_steps = 2147483647.0;
  const double rows = count_of(contraction.rows);
  const double columns = count_of(contraction.columns);
  const double steps = count_of(contraction.inner);
  const double most = std::max(rows, std::max(columns, steps));
  return std::min(rows, columns) >= k_least_side && std::max(rows, columns) >= k_least_columns &&
         count_of(contraction.batch) * rows * columns * steps >= k_least_products && most <= k_most_steps;
}

bool innermost_is_column(const Contraction& contraction) {
  const auto& axes = contraction.split.stage.axes;
  const auto& phases = contraction.split.phases;
  const auto last =
      std::find_if(axes.rbegin(), axes.rend(), [&](const StageAxis& axis) { return phases.count(axis.name) == 0; });
  return !contraction.columns.empty() && last != axes.rend() && contraction.columns.back().name == last->name;
}

/// Whether an index of the factor's loads goes along an axis of the output and an inner one: a window.
bool slides_along(const Contraction& contraction, const ContractionFactor& factor) {
  const auto names_one = [&](const std::set<std::string>& named, const StageAxes& axes) {
    return std::any_of(axes.begin(), axes.end(), [&](const StageAxis& axis) {
      return named.count(axis.name) > 0 && contraction.split.phases.count(axis.name) == 0;
    });
  };
  bool slides = false;
  for_each_load(factor.element, [&](const StageNode& load) {
    for (const auto& operand : load.operands) {
      const auto named = axes_named(operand);
      slides = slides || (names_one(named, contraction.split.stage.axes) && names_one(named, contraction.inner));
    }
  });
  return slides;
}

/// In vector operations, to choose by.
double cost_of_columns(const Contraction& contraction, ColumnChoice choice) {
  if (choice == ColumnChoice::contiguous) return innermost_is_column(contraction) ? 0.0 : 1.0;
  constexpr double k_lanes = 16.0;
  // An element of a window is copied once per tap, under guards.
  const double copy = slides_along(contraction, contraction.second) ? 6.0 : 1.5;
  constexpr double k_contiguous_store = 0.25;
  constexpr double k_scattered_store = 2.0;
  const double batch = count_of(contraction.batch);
  const double rows = count_of(contraction.rows);
  const double columns = count_of(contraction.columns);
  const double steps = count_of(contraction.inner);
  const double products = batch * rows * std::ceil(columns / k_lanes) * steps;
  const double store = innermost_is_column(contraction) ? k_contiguous_store : k_scattered_store;
  return products + batch * columns * steps * copy + batch * rows * columns * store;
}

}  // namespace

std::optional<Contraction> contraction_of(const Stage& stage, ColumnChoice choice, const ContractionTest& usable) {
  const bool sum = stage.kind == StageKind::reduce && stage.op == ReduceOp::sum && !stage.position &&
                   !stage.inner.empty() && !stage.axes.empty() && stage.body->type == StageType::real;
  if (!sum) return std::nullopt;
  const auto split = split_stage(stage);
  std::vector<StageExpr> multiplicands;
  add_multiplicands(split.stage.body, multiplicands);
  constexpr std::size_t k_most_multiplicands = 6;
  if (multiplicands.size() < 2 || multiplicands.size() > k_most_multiplicands) return std::nullopt;
  std::optional<Contraction> best;
  for (unsigned which = 1; which + 1 < (1U << multiplicands.size()); ++which) {
    const auto [first, second] = parted(multiplicands, which);
    auto contraction = with_factors(split, first, second);
    if (!contraction || !worth_tiles(*contraction) || !counts_are_known(*contraction) ||
        (usable && !usable(*contraction)))
      continue;
    if (!best || cost_of_columns(*contraction, choice) < cost_of_columns(*best, choice)) best = std::move(contraction);
  }
  return best;
}

}  // namespace kw
