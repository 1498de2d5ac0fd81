#include "operators/program/kernels/exchange_sums.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "operators/program/kernels/affine_index.hpp"
#include "operators/program/kernels/sum_algebra.hpp"
#include "program/stages/access.hpp"
#include "program/stages/decomposition.hpp"
#include "program/stages/exact_extent.hpp"
#include "program/stages/work.hpp"

namespace kw {
namespace {

using Names = std::set<std::string>;

/// A sum of products and the sum over some of its axes.
struct NestedSums {
  const Stage& products;
  const Stage& total;
  AxisValues own;           ///< axes of the products by those of the total
  Names summed;             ///< axes of the products
  StageExpr varied, fixed;  ///< the factors: the first one depends on what is summed
};

std::optional<NestedSums> nested_sums(const Stage& products, const Stage& total) {
  if (!is_real_sum(products) || !is_real_sum(total) || !total.guards.empty()) return std::nullopt;
  const auto factors = two_factors(products);
  if (!factors || total.body->op != StageOp::load || total.body->tensor.buffer != products.buffer) return std::nullopt;
  NestedSums nested{products, total, {}, {}, factors->first, factors->second};
  const auto places = reshaped_indices(total.body->operands, total.body->tensor.type.shape, extents_of(products.axes));
  Names met;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto& axis = products.axes[i];
    nested.own[axis.name] = places[i];
    if (places[i]->op != StageOp::axis) {
      if (axis.extent.text() != "1") return std::nullopt;
      continue;
    }
    if (!met.insert(places[i]->axis).second) return std::nullopt;
    if (axis_named(total.inner, places[i]->axis) != nullptr) nested.summed.insert(axis.name);
  }
  const auto is_met = [&](const StageAxis& axis) { return axis.extent.text() == "1" || met.count(axis.name) > 0; };
  if (nested.summed.empty() || !std::all_of(total.inner.begin(), total.inner.end(), is_met)) return std::nullopt;
  if (!have_common(axes_used(nested.varied), nested.summed)) std::swap(nested.varied, nested.fixed);
  if (have_common(axes_used(nested.fixed), nested.summed)) return std::nullopt;
  if (products.epilogue && have_common(axes_used(products.epilogue), nested.summed)) return std::nullopt;
  return nested;
}

/// The sums of the varied factor, and how the products read them.
class FactorSums {
 public:
  explicit FactorSums(const NestedSums& nested) : nested_(nested) {
    stage_.kind = StageKind::reduce;
    stage_.node = nested.products.node;
    stage_.in_parts = true;
  }

  /// False where the sums are not of this form.
  [[nodiscard]] bool build() {
    const auto& factor = *nested_.varied;
    for (std::size_t i = 0; i < factor.operands.size(); ++i) {
      const auto& index = factor.operands[i];
      const auto used = axes_used(index);
      const bool fits = have_common(used, nested_.summed) ? add_summed(i, index, used) : add_kept(i, index);
      if (!fits) return false;
    }
    stage_.body = load(factor.tensor, elements_);
    for (const auto& guard : nested_.products.guards) {
      if (!have_common(axes_used(guard), nested_.summed)) left_.push_back(guard);
    }
    return taken_ + left_.size() == nested_.products.guards.size();
  }

  [[nodiscard]] const Stage& stage() const { return stage_; }
  [[nodiscard]] const StageIndices& read() const { return read_; }            ///< in axes of the products
  [[nodiscard]] const std::vector<StageExpr>& left() const { return left_; }  ///< guards of the products

 private:
  bool add_kept(std::size_t i, const StageExpr& index) {
    const StageAxis axis{fmt::format("i{}", i), nested_.varied->tensor.type.shape[i]};
    stage_.axes.push_back(axis);
    elements_.push_back(axis_index(axis.name));
    read_.push_back(index);
    return true;
  }

  /// Along one summed axis and at most one of the window's.
  bool add_summed(std::size_t i, const StageExpr& index, const Names& used) {
    std::string summed, step;
    for (const auto& name : used) {
      const bool is_summed = nested_.summed.count(name) > 0;
      auto& place = is_summed ? summed : step;
      if (!place.empty() || (!is_summed && axis_named(nested_.products.inner, name) == nullptr)) return false;
      place = name;
    }
    std::vector<StageExpr> guards;
    for (const auto& guard : nested_.products.guards) {
      const auto names = axes_used(guard);
      if (names.count(summed) == 0) continue;
      if (std::any_of(names.begin(), names.end(), [&](const auto& one) { return one != summed && one != step; })) {
        return false;
      }
      guards.push_back(guard);
    }
    taken_ += guards.size();
    if (!add_by_inputs(i, index, summed, guards)) {
      stage_.inner.push_back(*axis_named(nested_.products.axes, summed));
      elements_.push_back(index);
      stage_.guards.insert(stage_.guards.end(), guards.begin(), guards.end());
    }
    const auto depends = [&](const StageExpr& one) { return !step.empty() && depends_on(one, step); };
    if (depends(elements_.back()) || std::any_of(stage_.guards.begin(), stage_.guards.end(), depends)) {
      stage_.axes.push_back(*axis_named(nested_.products.inner, step));
      read_.push_back(axis_index(step));
    }
    return true;
  }

  /// Over the places of the input rather than those of the output, where each has one at most: an output at place z
  /// reads element (z + rest) / stride. Whether every input is met by some output is then known more often.
  bool add_by_inputs(std::size_t i, const StageExpr& index, const std::string& summed,
                     const std::vector<StageExpr>& guards) {
    const auto& extent = nested_.varied->tensor.type.shape[i];
    const bool strided = index->op == StageOp::floor_divide;
    const auto reached = strided ? index->operands[0] : index;
    const StageExpr stride = strided ? index->operands[1] : StageExpr(1);
    auto met = inside(index, extent);
    if (strided) met = both(floor_modulo(reached, stride) == 0, met);
    const bool only_met = guards.empty() ? !strided : guards.size() == 1 && same_expression(guards[0], met);
    const auto affine = affine_index(reached, {});
    if (!only_met || !affine) return false;
    const auto step = affine->coefficients.find(summed);
    if (step == affine->coefficients.end() || step->second.text() != "1") return false;
    const StageAxis axis{fmt::format("i{}", i), extent};
    const auto rest = with_axes(reached, {{summed, StageExpr(0)}});
    const auto place = axis_index(axis.name) * stride - rest;
    stage_.inner.push_back(axis);
    elements_.push_back(axis_index(axis.name));
    const auto& places = axis_named(nested_.products.axes, summed)->extent;
    if (!always_inside(place, axis, places)) stage_.guards.push_back(inside(place, places));
    return true;
  }

  [[nodiscard]] bool always_inside(const StageExpr& place, const StageAxis& axis, const Extent& places) const {
    const auto affine = affine_index(place, {});
    if (!affine) return false;
    StageAxes axes = nested_.products.inner;
    axes.push_back(axis);
    const auto range = range_of(*affine, axes);
    if (!range) return false;
    const auto behind = exact_difference(places, range->largest);
    return range->least.is_constant() && range->least.value() >= 0 && behind && behind->is_constant() &&
           behind->value() >= 1;
  }

  const NestedSums& nested_;
  Stage stage_;
  StageIndices elements_;
  StageIndices read_;
  std::vector<StageExpr> left_;
  std::size_t taken_ = 0;
};

bool exchange(StageProgram& program, std::size_t first, std::size_t second) {
  const auto nested = nested_sums(program.stages[first], program.stages[second]);
  if (!nested) return false;
  const auto& products = nested->products;
  const auto& total = nested->total;
  FactorSums sums(*nested);
  if (!sums.build()) return false;
  const auto count = real_count(total.inner);
  const auto each = products.epilogue ? products.epilogue : reduction_result(StageType::real);
  const auto result = sum_of_linear_in_result(each, count);
  if (!result) return false;
  Stage part = sums.stage();
  StageBuffer buffer;
  buffer.name = program.buffers[products.buffer].name + "_sums";
  buffer.type = {ElementType::float32, extents_of(part.axes)};
  part.buffer = program.buffers.size();
  Stage whole = total;
  whole.inner = products.inner;
  auto values = nested->own;
  for (const auto& [old, name] : with_free_names(whole.inner, whole.axes)) values[old] = name;
  whole.in_parts = products.in_parts;
  whole.body = with_axes(load(TensorView{part.buffer, buffer.type}, sums.read()) * nested->fixed, values);
  whole.guards.clear();
  for (const auto& guard : sums.left()) whole.guards.push_back(with_axes(guard, values));
  const auto all = with_axes(*result, values);
  whole.epilogue = with_result(total.epilogue, all);
  constexpr double k_share = 0.25;
  if (evaluations(part) + evaluations(whole) > k_share * evaluations(products)) return false;
  program.buffers.push_back(std::move(buffer));
  program.stages[first] = std::move(part);
  program.stages[second] = std::move(whole);
  return true;
}

}  // namespace

std::vector<std::string> exchange_sums(StageProgram& program) {
  std::vector<std::string> lines;
  for (const auto& [between, result] : rewrite_pairs(program, exchange)) {
    lines.push_back(
        fmt::format("sums_exchanged at {}: the sum over outputs of {} sums its inputs first", result, between));
  }
  return lines;
}

}  // namespace kw
