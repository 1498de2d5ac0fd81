#include "operators/program/kernels/contract_tails.hpp"

#include <algorithm>

#include "operators/program/kernels/affine_index.hpp"
#include "operators/program/kernels/contract_patches.hpp"
#include "operators/program/kernels/contract_shape.hpp"
#include "operators/program/kernels/program_contracts.hpp"
#include "operators/program/kernels/rising.hpp"
#include "program/stages/decomposition.hpp"
#include "program/stages/rewrite.hpp"

namespace kw {
namespace {

const StageAxis* tail_axis(const StageAxes& axes, const std::string& name) {
  const auto found = std::ranges::find(axes, name, &StageAxis::name);
  return found == axes.end() ? nullptr : &*found;
}

/// An axis alone, or windows side by side: count * kept + reduced, where so many are reduced.
std::optional<TailIndex> tail_index(const Stage& reduction, const StageExpr& operand) {
  const auto form = affine_index(operand, {});
  const bool plain = form && form->terms.empty() && form->constant.is_constant() && form->constant.value() == 0;
  if (!plain) return std::nullopt;
  TailIndex index;
  Extent apart = 1;
  for (const auto& [name, coefficient] : form->coefficients) {
    const bool kept = tail_axis(reduction.axes, name) != nullptr;
    auto& axis = kept ? index.kept : index.reduced;
    if (!axis.empty() || !coefficient.is_constant() || (!kept && coefficient.value() != 1)) return std::nullopt;
    axis = name;
    if (kept) apart = coefficient;
  }
  if (index.kept.empty() || index.reduced.empty()) {
    return !form->coefficients.empty() && apart.value() == 1 ? std::optional(index) : std::nullopt;
  }
  const auto& extent = tail_axis(reduction.inner, index.reduced)->extent;
  if (!extent.is_constant() || extent.value() != apart.value()) return std::nullopt;
  index.count = extent.value();
  return index;
}

/// A reduction of few elements as a map: they are loaded side by side.
Stage map_over(Stage reduction, const StageExpr& element) {
  std::vector<StageExpr> elements = {element};
  for (const auto& axis : reduction.inner) {
    std::vector<StageExpr> more;
    for (const auto& one : elements) {
      for (std::int64_t i = 0; i < axis.extent.value(); ++i)
        more.push_back(with_axes(one, {{axis.name, StageExpr(Extent(i))}}));
    }
    elements = std::move(more);
  }
  auto all = elements[0];
  for (std::size_t i = 1; i < elements.size(); ++i) {
    all = reduction.op == ReduceOp::sum       ? all + elements[i]
          : reduction.op == ReduceOp::maximum ? maximum(all, elements[i])
                                              : minimum(all, elements[i]);
  }
  const auto with_result = [&](const StageExpr& node) { return node->op == StageOp::result ? all : StageExpr(); };
  reduction.body = reduction.epilogue ? rewritten(reduction.epilogue, with_result) : all;
  reduction.epilogue = StageExpr();
  reduction.kind = StageKind::map;
  reduction.inner.clear();
  reduction.in_parts = false;
  return reduction;
}

class TailFinder {
 public:
  TailFinder(const Stage& product, const Stage& reduction) : product_(product), reduction_(reduction) {}

  std::optional<WindowsOfPlanes> of_planes(std::size_t buffer) {
    constexpr std::int64_t k_most_planes = 8;
    if (!is_candidate() || !find_indices()) return std::nullopt;
    const auto contraction = contraction_of(product_, ColumnChoice::contiguous);
    const auto patch = contraction ? patch_contraction(*contraction) : std::nullopt;
    if (!patch || !patch->line) return std::nullopt;
    WindowsOfPlanes split{reduction_, reduction_};
    auto& in_planes = split.in_planes;
    in_planes.buffer = buffer;
    in_planes.epilogue = StageExpr();
    in_planes.inner.clear();
    split.of_planes.inner.clear();
    StageIndices indices = reduction_.body->operands;  // of the product, in its planes
    StageIndices kept = indices_of(reduction_.axes);   // of what is left in the planes
    for (std::size_t i = 0; i < indices_.size(); ++i) {
      const auto& index = indices_[i];
      if (index.kept.empty()) return std::nullopt;
      if (index.reduced.empty()) continue;
      const auto& axis = product_.axes[i].name;
      const bool in_tile = patch->line->axis == axis || patch->across->axis == axis;
      const auto& reduced = *tail_axis(reduction_.inner, index.reduced);
      (in_tile ? in_planes : split.of_planes).inner.push_back(reduced);
      if (in_tile) continue;
      if (index.count > k_most_planes) return std::nullopt;
      const auto place = std::ranges::find(in_planes.axes, index.kept, &StageAxis::name);
      place->extent = product_.axes[i].extent;
      kept[static_cast<std::size_t>(place - in_planes.axes.begin())] = indices[i];
      indices[i] = axis_index(index.kept);
    }
    if (in_planes.inner.empty() || split.of_planes.inner.empty()) return std::nullopt;
    in_planes.body = load(reduction_.body->tensor, indices);
    const TensorType type{ElementType::float32, extents_of(in_planes.axes)};
    split.of_planes = map_over(split.of_planes, load({buffer, type}, kept));
    return split;
  }

  std::optional<std::vector<TailIndex>> indices() {
    if (!is_candidate() || !find_indices()) return std::nullopt;
    return std::move(indices_);
  }

  std::optional<TailedContraction> found() {
    if (!is_candidate() || !find_indices()) return std::nullopt;
    auto contraction = contraction_of(product_, ColumnChoice::contiguous);
    if (!contraction) return std::nullopt;
    found_.contraction = *std::move(contraction);
    if (!find_rows() && !find_windows() && !find_pixels()) return std::nullopt;
    if (!has_extents(reduction_.axes) || !find_output()) return std::nullopt;
    found_.tail.reduction = reduction_;
    if (reduction_.epilogue) found_.tail.epilogue = with_axes(reduction_.epilogue, values_);
    reduce_before_rising();
    found_.contraction.split.stage.buffer = reduction_.buffer;
    return std::move(found_);
  }

 private:
  /// Sums that are to be gathered in short parts are: of a tile's rows, or of a window.
  bool is_candidate() const {
    const auto& body = reduction_.body;
    const bool simple = reduction_.kind == StageKind::reduce && !reduction_.position && !reduction_.place &&
                        reduction_.guards.empty() && !product_.place && !product_.in_parts;
    const bool known =
        reduction_.op == ReduceOp::sum || reduction_.op == ReduceOp::maximum || reduction_.op == ReduceOp::minimum;
    return simple && known && body->op == StageOp::load && body->tensor.buffer == product_.buffer &&
           body->type == StageType::real && !reads_again();
  }

  /// Whether the epilogue reads what was reduced.
  bool reads_again() const {
    bool again = false;
    if (!reduction_.epilogue) return again;
    for_each_load(reduction_.epilogue,
                  [&](const StageNode& load) { again = again || load.tensor.buffer == product_.buffer; });
    return again;
  }

  /// Each axis of the reduction is in one index, or has one element.
  bool find_indices() {
    const auto& load = *reduction_.body;
    const auto& shape = load.tensor.type.shape;
    if (shape.size() != product_.axes.size() || load.operands.size() != shape.size()) return false;
    std::set<std::string> seen;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      const auto index = tail_index(reduction_, load.operands[i]);
      if (shape[i].text() != product_.axes[i].extent.text() || !index) return false;
      for (const auto& axis : {index->kept, index->reduced}) {
        if (!axis.empty() && !seen.insert(axis).second) return false;
      }
      indices_.push_back(*index);
    }
    return std::ranges::all_of(reduction_.inner, [&](const StageAxis& axis) {
      return seen.count(axis.name) > 0 || (axis.extent.is_constant() && axis.extent.value() == 1);
    });
  }

  /// The one reduced axis is that of all rows.
  bool find_rows() {
    values_.clear();
    const auto& rows = found_.contraction.rows;
    if (reduction_.inner.size() != 1) return false;
    for (std::size_t i = 0; i < indices_.size(); ++i) {
      const auto& index = indices_[i];
      if (index.count != 1 && !index.reduced.empty()) return false;
      if (index.kept.empty()) {
        const bool all = rows.size() == 1 && rows[0].name == product_.axes[i].name &&
                         tail_axis(reduction_.inner, index.reduced)->extent.text() == rows[0].extent.text();
        if (!all) return false;
        continue;
      }
      if (!index.reduced.empty() || !keeps_all(i)) return false;
      values_[index.kept] = found_.contraction.split.place[i];
    }
    found_.tail.kind = TailKind::rows;
    return true;
  }

  /// Of the largest of some pixels, what rises with the sums alone is computed once, behind the reduction.
  void reduce_before_rising() {
    auto& of_sum = found_.contraction.split.stage.epilogue;
    auto& tail = found_.tail;
    if (tail.kind != TailKind::windows || reduction_.op == ReduceOp::sum || !of_sum || !rises_with_result(of_sum))
      return;
    const auto named = axes_named(of_sum);
    const auto patch = patch_contraction(found_.contraction);
    const bool of_pixels =
        std::ranges::any_of(patch->tile, [&](const StageAxis& axis) { return named.count(axis.name) > 0; });
    if (of_pixels) return;
    const auto behind = of_sum;
    const auto with_result = [&](const StageExpr& node) { return node->op == StageOp::result ? behind : StageExpr(); };
    tail.epilogue = tail.epilogue ? rewritten(tail.epilogue, with_result) : behind;
    of_sum = StageExpr();
  }

  bool keeps_all(std::size_t i) const {
    return tail_axis(reduction_.axes, indices_[i].kept)->extent.text() == product_.axes[i].extent.text();
  }

  /// Windows in tiles of patches: these are eight columns wide or a multiple of it, and as many lines high where they
  /// have some.
  bool find_windows() {
    constexpr std::int64_t k_eight = 8;
    values_.clear();
    const auto& split = found_.contraction.split;
    const auto patch = patch_contraction(found_.contraction);
    if (!patch || !patch->across || split.stored || !split.phases.empty()) return false;
    for (std::size_t i = 0; i < indices_.size(); ++i) {
      const auto& index = indices_[i];
      if (index.kept.empty()) return false;
      const auto& axis = product_.axes[i].name;
      const bool across = patch->across->axis == axis;
      const bool line = patch->line && patch->line->axis == axis;
      if (!across && !line) {
        if (index.count != 1 || !keeps_all(i)) return false;
        values_[index.kept] = split.place[i];
        continue;
      }
      if (k_eight % index.count != 0) return false;
      (across ? found_.tail.columns : found_.tail.lines) = index.count;
      const auto& kept = *tail_axis(reduction_.axes, index.kept);
      const StageAxis counted{unused_name(across ? "window_column" : "window_line"), kept.extent};
      (across ? found_.tail.column : found_.tail.line) = counted;
      values_[index.kept] = axis_index(counted.name);
    }
    found_.tail.kind = TailKind::windows;
    return found_.tail.columns * found_.tail.lines > 1;
  }

  /// All that a tile of patches has pixels of, and planes of it.
  bool find_pixels() {
    values_.clear();
    const auto& split = found_.contraction.split;
    const auto patch = patch_contraction(found_.contraction);
    if (!patch || !patch->across || split.stored || !split.phases.empty()) return false;
    std::set<std::string> reduced;
    for (std::size_t i = 0; i < indices_.size(); ++i) {
      const auto& index = indices_[i];
      if (index.kept.empty() == index.reduced.empty()) return false;
      const auto& whole = product_.axes[i];
      if (index.reduced.empty()) {
        if (!keeps_all(i)) return false;
        values_[index.kept] = split.place[i];
      } else {
        if (tail_axis(reduction_.inner, index.reduced)->extent.text() != whole.extent.text()) return false;
        reduced.insert(whole.name);
      }
    }
    for (const auto& axis : patch->tile) {
      if (reduced.erase(axis.name) == 0) return false;
    }
    for (std::size_t i = patch->outer.size(); i-- > 0 && reduced.erase(patch->outer[i].name) > 0;)
      found_.tail.planes.insert(found_.tail.planes.begin(), patch->outer[i]);
    found_.tail.kind = TailKind::pixels;
    return reduced.empty();
  }

  std::string unused_name(std::string name) const {
    const auto& stage = found_.contraction.split.stage;
    while (tail_axis(stage.axes, name) != nullptr || tail_axis(stage.inner, name) != nullptr) name += "_";
    return name;
  }

  /// Axes of the result that the load does not name have one element.
  bool find_output() {
    auto& split = found_.contraction.split;
    split.output = reduction_.axes;
    split.place.clear();
    for (const auto& axis : reduction_.axes) {
      const auto found = values_.find(axis.name);
      if (found == values_.end() && !(axis.extent.is_constant() && axis.extent.value() == 1)) return false;
      if (found == values_.end()) values_[axis.name] = StageExpr(0);
      split.place.push_back(values_.at(axis.name));
    }
    return true;
  }

  const Stage& product_;
  const Stage& reduction_;
  std::vector<TailIndex> indices_;  ///< of the product's buffer
  AxisValues values_;               ///< of the result's axes, by those of the contraction
  TailedContraction found_;
};

}  // namespace

std::optional<std::vector<TailIndex>> tail_indices(const Stage& product, const Stage& reduction) {
  return TailFinder(product, reduction).indices();
}

std::optional<TailedContraction> tailed_contraction(const Stage& product, const Stage& reduction) {
  return TailFinder(product, reduction).found();
}

std::optional<WindowsOfPlanes> windows_of_planes(const Stage& product, const Stage& reduction, std::size_t buffer) {
  return TailFinder(product, reduction).of_planes(buffer);
}

bool takes_tail(const GroupContext& context, const TailedContraction& tailed) {
  if (context.ways.tails == WayUse::never || context.dialect->warp.empty()) return false;
  const auto products = context.contracts->products();
  const auto size = contract_size(tailed.contraction);
  if (products == TileProducts::strips || products == TileProducts::direct || contract_splits(size, context.device))
    return false;
  return tailed.tail.kind == TailKind::rows || by_patches(size, products, context.device);
}

}  // namespace kw
