#include "operators/program/kernels/pool_products.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "operators/program/kernels/affine_index.hpp"
#include "operators/program/kernels/sum_algebra.hpp"
#include "program/stages/access.hpp"
#include "program/stages/decomposition.hpp"
#include "program/stages/work.hpp"

namespace kw {
namespace {

std::optional<std::int64_t> constant_of(const Extent& extent) {
  return extent.is_constant() ? std::optional(extent.value()) : std::nullopt;
}

std::int64_t modulo(std::int64_t a, std::int64_t b) {
  return (a % b + b) % b;
}

/// An axis of the products that is pooled: its place is output * stride + step * dilation.
struct PooledAxis {
  std::string name;          ///< of the products
  std::string output, step;  ///< of the total
  std::int64_t stride = 1, dilation = 1, steps = 1;
};

/// How the varied factor is read along a pooled axis: phases * index = place * scale + tap * direction + constant.
struct PooledIndex {
  std::size_t operand = 0;
  std::string tap;  ///< an inner axis of the products; empty: there is none
  std::int64_t taps = 1;
  std::int64_t phases = 1, scale = 1, direction = 1, constant = 0;
  bool guarded = false;
};

/// The index along the pooled axis as output * scale + tap + constant, for `taps` new taps.
struct MergedIndex {
  std::string tap;  ///< the new axis, in the products and in the summed filter
  std::int64_t taps = 0, scale = 1, constant = 0;
  StageExpr old_tap;  ///< by the new one and the step of the window
};

class Pooling {
 public:
  Pooling(const Stage& products, const Stage& total) : products_(products), total_(total) {}

  /// False where the stages are not of this form.
  [[nodiscard]] bool build() { return find_axes() && find_factors() && merge_all() && guards_fit(); }

  /// The filter, summed over the window.
  [[nodiscard]] Stage filter() const {
    Stage filter;
    filter.kind = StageKind::reduce;
    filter.node = products_.node;
    filter.inner = total_.inner;
    AxisValues taps;
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      filter.guards.push_back(inside(merged_[i].old_tap, indices_[i].taps));
      if (!indices_[i].tap.empty()) taps[indices_[i].tap] = merged_[i].old_tap;
    }
    StageIndices places;
    for (std::size_t i = 0; i < fixed_->operands.size(); ++i) {
      const auto& index = fixed_->operands[i];
      if (const auto* merged = merged_tap_of(index)) {
        filter.axes.push_back({merged->tap, merged->taps});
        places.push_back(taps.at(index->axis));
      } else {
        filter.axes.push_back({fmt::format("i{}", i), fixed_->tensor.type.shape[i]});
        places.push_back(axis_index(filter.axes.back().name));
      }
    }
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      if (indices_[i].tap.empty()) filter.axes.push_back({merged_[i].tap, merged_[i].taps});
    }
    filter.body = load(fixed_->tensor, std::move(places));
    return filter;
  }

  /// The sum of products with it, in the axes of the total; `filter` is the tensor of the summed filter.
  [[nodiscard]] Stage pooled(const TensorView& filter) const {
    Stage pooled = total_;
    pooled.in_parts = products_.in_parts;
    pooled.inner = new_inner();
    AxisValues values = own_;
    for (const auto& [old, name] : with_free_names(pooled.inner, pooled.axes)) values[old] = name;
    StageIndices elements = varied_->operands;
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      const auto& merged = merged_[i];
      auto& element = elements[indices_[i].operand];
      element = axis_index(axes_[i].name) * StageExpr(Extent(merged.scale)) + axis_index(merged.tap) +
                StageExpr(Extent(merged.constant));
      values[axes_[i].name] = axis_index(axes_[i].output);
      if (indices_[i].guarded) {
        pooled.guards.push_back(with_axes(inside(element, varied_->tensor.type.shape[indices_[i].operand]), values));
      }
    }
    StageIndices weights;
    for (const auto& index : fixed_->operands) {
      const auto* merged = merged_tap_of(index);
      weights.push_back(merged != nullptr ? axis_index(merged->tap) : index);
    }
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      if (indices_[i].tap.empty()) weights.push_back(axis_index(merged_[i].tap));
    }
    for (const auto& guard : left_) pooled.guards.push_back(with_axes(guard, values));
    pooled.body = with_axes(load(varied_->tensor, std::move(elements)) * load(filter, std::move(weights)), values);
    return pooled;
  }

  /// What the epilogue of the total sees: the sum over the window of what the products give. Absent where that does not
  /// follow from the sum of their sums.
  [[nodiscard]] std::optional<StageExpr> result() const {
    const auto each = products_.epilogue ? products_.epilogue : reduction_result(StageType::real);
    if (have_common(axes_used(each), pooled_names())) return std::nullopt;
    const auto sum = sum_of_linear_in_result(each, real_count(total_.inner));
    return sum ? std::optional(with_axes(*sum, own_)) : std::nullopt;
  }

 private:
  [[nodiscard]] std::set<std::string> pooled_names() const {
    std::set<std::string> names;
    for (const auto& axis : axes_) names.insert(axis.name);
    return names;
  }

  /// Each axis of the products is an axis of the total, or pooled.
  bool find_axes() {
    const auto& element = *total_.body;
    if (element.op != StageOp::load || element.tensor.buffer != products_.buffer) return false;
    const auto places = reshaped_indices(element.operands, element.tensor.type.shape, extents_of(products_.axes));
    std::set<std::string> met;
    for (std::size_t i = 0; i < places.size(); ++i) {
      const auto& axis = products_.axes[i];
      for (const auto& name : axes_used(places[i])) {
        if (!met.insert(name).second) return false;
      }
      if (places[i]->op == StageOp::axis && axis_named(total_.axes, places[i]->axis) != nullptr) {
        own_[axis.name] = places[i];
      } else if (!add_pooled(axis.name, places[i])) {
        return false;
      }
    }
    const auto is_met = [&](const StageAxis& axis) { return met.count(axis.name) > 0; };
    return !axes_.empty() && std::all_of(total_.inner.begin(), total_.inner.end(), is_met);
  }

  bool add_pooled(const std::string& name, const StageExpr& place) {
    const auto affine = affine_index(place, {});
    if (!affine || affine->coefficients.size() != 2 || !affine->terms.empty() || affine->constant.text() != "0") {
      return false;
    }
    PooledAxis pooled{name, "", "", 0, 0, 0};
    for (const auto& [axis, coefficient] : affine->coefficients) {
      const auto factor = constant_of(coefficient);
      if (!factor || *factor < 1) return false;
      if (const auto* step = axis_named(total_.inner, axis)) {
        const auto steps = constant_of(step->extent);
        if (!steps) return false;
        pooled.step = axis;
        pooled.dilation = *factor;
        pooled.steps = *steps;
      } else {
        pooled.output = axis;
        pooled.stride = *factor;
      }
    }
    if (pooled.output.empty() || pooled.step.empty()) return false;
    axes_.push_back(pooled);
    return true;
  }

  bool find_factors() {
    const auto factors = two_factors(products_);
    if (!factors) return false;
    varied_ = factors->first;
    fixed_ = factors->second;
    if (!have_common(axes_used(varied_), pooled_names())) std::swap(varied_, fixed_);
    if (have_common(axes_used(fixed_), pooled_names())) return false;
    return std::all_of(axes_.begin(), axes_.end(), [&](const PooledAxis& axis) { return add_index(axis); });
  }

  bool add_index(const PooledAxis& axis) {
    std::optional<PooledIndex> found;
    for (std::size_t i = 0; i < varied_->operands.size(); ++i) {
      const auto& index = varied_->operands[i];
      if (!depends_on(index, axis.name)) continue;
      if (found) return false;
      found = index_of(i, index, axis);
      if (!found) return false;
    }
    if (!found) return false;
    indices_.push_back(*found);
    return true;
  }

  std::optional<PooledIndex> index_of(std::size_t operand, const StageExpr& index, const PooledAxis& axis) {
    PooledIndex found;
    found.operand = operand;
    const bool divided = index->op == StageOp::floor_divide && index->operands[1]->op == StageOp::integer;
    const auto phases = divided ? constant_of(index->operands[1]->integer) : 1;
    const auto affine = affine_index(divided ? index->operands[0] : index, {});
    if (!phases || *phases < 1 || !affine || !affine->terms.empty()) return std::nullopt;
    const auto constant = constant_of(affine->constant);
    if (!constant) return std::nullopt;
    found.phases = *phases;
    found.constant = *constant;
    for (const auto& [name, coefficient] : affine->coefficients) {
      const auto factor = constant_of(coefficient);
      if (!factor) return std::nullopt;
      if (name == axis.name) {
        found.scale = *factor;
      } else {
        const auto* tap = axis_named(products_.inner, name);
        const auto taps = tap == nullptr ? std::nullopt : constant_of(tap->extent);
        if (!taps || !found.tap.empty() || (*factor != 1 && *factor != -1)) return std::nullopt;
        found.tap = name;
        found.taps = *taps;
        found.direction = *factor;
      }
    }
    const bool fits =
        found.scale > 0 && found.scale * axis.stride % found.phases == 0 && take_guard(found, index, axis);
    return fits ? std::optional(found) : std::nullopt;
  }

  /// The only condition on the pooled axis may be that the element is one of the tensor.
  bool take_guard(PooledIndex& found, const StageExpr& index, const PooledAxis& axis) {
    auto met = inside(index, varied_->tensor.type.shape[found.operand]);
    if (found.phases > 1) met = both(floor_modulo(index->operands[0], index->operands[1]) == 0, met);
    for (const auto& guard : products_.guards) {
      if (!depends_on(guard, axis.name)) continue;
      if (found.guarded || !same_expression(guard, met)) return false;
      found.guarded = true;
    }
    return found.guarded || found.phases == 1;
  }

  /// Steps of the window and taps together: u = step * scale * dilation + tap * direction is m + least, and of the m
  /// those count whose place is a multiple of the phases: m = phases * new tap + rest.
  bool merge_all() {
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      const auto& axis = axes_[i];
      const auto& index = indices_[i];
      const auto reach = index.scale * axis.dilation;
      const auto least = index.direction < 0 ? 1 - index.taps : 0;
      const auto all = reach * (axis.steps - 1) + index.taps;
      const auto rest = modulo(-(least + index.constant), index.phases);
      if (rest >= all) return false;
      MergedIndex merged;
      merged.tap = free_name("t" + axis.output);
      merged.taps = (all - 1 - rest) / index.phases + 1;
      merged.scale = index.scale * axis.stride / index.phases;
      merged.constant = (rest + least + index.constant) / index.phases;
      const auto u = axis_index(merged.tap) * StageExpr(Extent(index.phases)) + StageExpr(Extent(rest + least));
      const auto of_step = axis_index(axis.step) * StageExpr(Extent(reach));
      merged.old_tap = index.direction < 0 ? of_step - u : u - of_step;
      merged_.push_back(std::move(merged));
    }
    return true;
  }

  [[nodiscard]] std::string free_name(std::string name) const {
    for (const auto* axes : {&products_.axes, &products_.inner, &total_.axes, &total_.inner}) {
      while (axis_named(*axes, name) != nullptr) name += "_";
    }
    return name;
  }

  /// Guards of taps alone, and filters that are read at a tap in another way than by it, are not of this form.
  bool guards_fit() {
    std::set<std::string> taps;
    for (const auto& index : indices_) {
      if (!index.tap.empty() && !taps.insert(index.tap).second) return false;
    }
    for (const auto& guard : products_.guards) {
      const auto names = axes_used(guard);
      if (have_common(names, pooled_names())) continue;
      if (have_common(names, taps)) return false;
      left_.push_back(guard);
    }
    std::set<std::string> read;
    for (const auto& index : fixed_->operands) {
      if (!have_common(axes_used(index), taps)) continue;
      if (index->op != StageOp::axis || !read.insert(index->axis).second) return false;
    }
    const auto elsewhere = [&](std::size_t operand) {
      const bool pooled = std::any_of(indices_.begin(), indices_.end(),
                                      [&](const PooledIndex& index) { return index.operand == operand; });
      return !pooled && have_common(axes_used(varied_->operands[operand]), taps);
    };
    for (std::size_t i = 0; i < varied_->operands.size(); ++i) {
      if (elsewhere(i)) return false;
    }
    return read == taps;
  }

  [[nodiscard]] const MergedIndex* merged_tap_of(const StageExpr& index) const {
    for (std::size_t i = 0; i < indices_.size(); ++i) {
      if (index->op == StageOp::axis && index->axis == indices_[i].tap) return &merged_[i];
    }
    return nullptr;
  }

  [[nodiscard]] StageAxes new_inner() const {
    StageAxes inner;
    for (const auto& axis : products_.inner) {
      const auto* merged = merged_tap_of(axis_index(axis.name));
      inner.push_back(merged == nullptr ? axis : StageAxis{merged->tap, merged->taps});
    }
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      if (indices_[i].tap.empty()) inner.push_back({merged_[i].tap, merged_[i].taps});
    }
    return inner;
  }

  const Stage& products_;
  const Stage& total_;
  AxisValues own_;  ///< axes of the products that are the total's own
  std::vector<PooledAxis> axes_;
  StageExpr varied_, fixed_;
  std::vector<PooledIndex> indices_;  ///< by axis
  std::vector<MergedIndex> merged_;
  std::vector<StageExpr> left_;  ///< guards
};

bool pool(StageProgram& program, std::size_t first, std::size_t second) {
  const auto& products = program.stages[first];
  const auto& total = program.stages[second];
  if (!is_real_sum(products) || !is_real_sum(total) || !total.guards.empty()) return false;
  Pooling pooling(products, total);
  if (!pooling.build()) return false;
  const auto result = pooling.result();
  if (!result) return false;
  Stage filter = pooling.filter();
  StageBuffer buffer;
  buffer.name = program.buffers[products.buffer].name + "_filter";
  buffer.type = {ElementType::float32, extents_of(filter.axes)};
  filter.buffer = program.buffers.size();
  Stage pooled = pooling.pooled({filter.buffer, buffer.type});
  pooled.epilogue = with_result(total.epilogue, *result);
  if (evaluations(pooled) + evaluations(filter) > evaluations(products)) return false;
  program.buffers.push_back(std::move(buffer));
  program.stages[first] = std::move(filter);
  program.stages[second] = std::move(pooled);
  return true;
}

}  // namespace

std::vector<std::string> pool_products(StageProgram& program) {
  std::vector<std::string> lines;
  for (const auto& [between, result] : rewrite_pairs(program, pool)) {
    lines.push_back(fmt::format("products_pooled at {}: pooling of {} pools its filter", result, between));
  }
  return lines;
}

}  // namespace kw
