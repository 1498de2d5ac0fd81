#include "operators/program/kernels/contract_patches.hpp"

#include <algorithm>

#include "operators/program/kernels/contract_text.hpp"
#include "operators/program/kernels/factor_memory.hpp"
#include "program/stages/exact_extent.hpp"
#include "program/stages/rewrite.hpp"
#include "program/stages/work.hpp"

namespace kw {
namespace {

constexpr std::int64_t k_most_taps = 32;
constexpr std::int64_t k_most_step = 8;

const StageAxis* axis_among(const StageAxes& axes, const std::string& name) {
  const auto found = std::find_if(axes.begin(), axes.end(), [&](const StageAxis& axis) { return axis.name == name; });
  return found == axes.end() ? nullptr : &*found;
}

bool is_small_constant(const Extent& extent, std::int64_t most) {
  return extent.is_constant() && std::abs(extent.value()) <= most;
}

/// Makes a PatchContraction, or finds out that there is none.
class PatchFinder {
 public:
  explicit PatchFinder(const Contraction& contraction)
      : contraction_(contraction), load_(*contraction.second.element), columns_(contraction.columns) {}

  std::optional<PatchContraction> found() {
    if (!is_candidate() || !find_indices() || (!find_run() && !find_pixels())) return std::nullopt;
    if (!find_depth() || !find_addresses() || !share_guards() || !has_known_counts()) return std::nullopt;
    return std::move(patch_);
  }

 private:
  bool is_candidate() const {
    constexpr double k_times = 4.0;
    return load_.op == StageOp::load && load_.tensor.type.dtype == ElementType::float32 && !columns_.empty() &&
           k_times * count_of(contraction_.inner) <= count_of(columns_);
  }

  bool find_indices() {
    for (const auto& operand : load_.operands) {
      auto index = affine_index(operand, contraction_.split.phases);
      if (!index) return false;
      indices_.push_back(*std::move(index));
    }
    return !indices_.empty();
  }

  bool named_but_in(const std::string& axis, std::size_t dimension) const {
    for (std::size_t i = 0; i < load_.operands.size(); ++i) {
      if (i != dimension && axes_named(load_.operands[i]).count(axis) > 0) return true;
    }
    return false;
  }

  /// Several columns whose elements are neighbours: a filter of one tap.
  bool find_run() {
    if (!contraction_.second.guards.empty()) return false;
    const auto address = dense_address(indices_, load_.tensor.type.shape);
    if (!address) return false;
    std::size_t first = columns_.size();
    while (first > 0 &&
           is_one_run(*address, {columns_.begin() + static_cast<std::ptrdiff_t>(first) - 1, columns_.end()}))
      --first;
    if (columns_.size() - first < 2) return false;
    split_columns(first);
    return true;
  }

  void split_columns(std::size_t first) {
    const auto middle = columns_.begin() + static_cast<std::ptrdiff_t>(first);
    patch_.outer.assign(columns_.begin(), middle);
    patch_.tile.assign(middle, columns_.end());
  }

  bool find_pixels() {
    const auto last = indices_.size() - 1;
    patch_.across = axis_of(last, columns_.back().name, "in_across");
    if (!patch_.across) return false;
    if (columns_.size() > 1 && last > 0) patch_.line = axis_of(last - 1, columns_[columns_.size() - 2].name, "in_line");
    split_columns(columns_.size() - (patch_.line ? 2 : 1));
    return true;
  }

  /// The index of a dimension as that of an axis of the tile.
  std::optional<PatchAxis> axis_of(std::size_t dimension, const std::string& axis, const std::string& name) const {
    PatchAxis found;
    found.axis = axis;
    found.index = unused_name(name);
    found.extent = load_.tensor.type.shape[dimension];
    found.rest = indices_[dimension];
    if (named_but_in(axis, dimension)) return std::nullopt;
    for (const auto& [named, coefficient] : indices_[dimension].coefficients) {
      const auto* tap = axis_among(contraction_.inner, named);
      if (named == axis) {
        if (!is_small_constant(coefficient, k_most_step) || coefficient.value() < 1) return std::nullopt;
        found.step = coefficient.value();
      } else if (tap != nullptr) {
        const bool usable = found.tap.empty() && is_small_constant(tap->extent, k_most_taps) &&
                            is_small_constant(coefficient, k_most_taps) && !named_but_in(named, dimension);
        if (!usable) return std::nullopt;
        found.tap = named;
        found.taps = tap->extent.value();
        found.dilation = coefficient.value();
      } else if (axis_among(contraction_.batch, named) == nullptr) {
        return std::nullopt;
      }
    }
    if (found.rest.coefficients.erase(axis) == 0) return std::nullopt;
    found.rest.coefficients.erase(found.tap);
    return found;
  }

  std::string unused_name(std::string name) const {
    while (axis_among(contraction_.split.stage.axes, name) != nullptr ||
           axis_among(contraction_.split.stage.inner, name) != nullptr)
      name += "_";
    return name;
  }

  bool is_tap(const std::string& name) const {
    return (patch_.line && patch_.line->tap == name) || (patch_.across && patch_.across->tap == name);
  }

  /// The longest axis that is summed over and is no tap.
  bool find_depth() {
    const StageAxis* depth = nullptr;
    for (const auto& axis : contraction_.inner) {
      if (depth == nullptr && !is_tap(axis.name)) depth = &axis;
    }
    if (depth == nullptr) return false;
    patch_.depth = *depth;
    for (const auto& axis : contraction_.split.stage.inner) {
      if (!is_tap(axis.name) && axis.name != depth->name) patch_.others.push_back(axis);
    }
    return true;
  }

  bool find_addresses() {
    auto indices = indices_;
    if (patch_.across) indices.back() = AffineIndex();
    if (patch_.line) indices[indices.size() - 2] = AffineIndex();
    auto start = dense_address(indices, load_.tensor.type.shape);
    if (!start) return false;
    for (const auto& axis : patch_.tile) start->coefficients.erase(axis.name);
    const auto stride = start->coefficients.find(patch_.depth.name);
    if (stride == start->coefficients.end()) return false;
    patch_.depth_stride = stride->second;
    start->coefficients.erase(stride);
    patch_.start = *std::move(start);
    // Places within a patch are ints: some index that the patch has one of comes before them.
    const auto moves = [&](const StageExpr& index) {
      const auto named = axes_named(index);
      return named.count(patch_.depth.name) > 0 ||
             std::any_of(patch_.tile.begin(), patch_.tile.end(),
                         [&](const StageAxis& axis) { return named.count(axis.name) > 0; });
    };
    const auto first = std::find_if(load_.operands.begin(), load_.operands.end(), moves);
    return std::any_of(load_.operands.begin(), first,
                       [](const StageExpr& index) { return !axes_named(index).empty(); });
  }

  /// The guard with indices by their names.
  StageExpr with_names(const StageExpr& node) const {
    if (node->type == StageType::integer && node->op != StageOp::integer) {
      for (const auto* axis : {patch_.line ? &*patch_.line : nullptr, patch_.across ? &*patch_.across : nullptr}) {
        if (axis == nullptr) continue;
        const auto& index = indices_[indices_.size() - (axis->axis == columns_.back().name ? 1 : 2)];
        if (auto named = named_part(node, index, axis->index)) return named;
      }
    }
    if (node->operands.empty()) return node;
    StageNode changed = *node;
    for (auto& operand : changed.operands) operand = with_names(operand);
    return StageExpr(std::move(changed));
  }

  /// `node` as the index called `name` and a number; absent where it is something else.
  StageExpr named_part(const StageExpr& node, const AffineIndex& index, const std::string& name) const {
    auto form = affine_index(node, contraction_.split.phases);
    if (!form) return {};
    const auto more = exact_difference(form->constant, index.constant);
    form->constant = index.constant;
    if (!more || !same_affine(*form, index)) return {};
    return axis_index(name) + StageExpr(*more);
  }

  bool share_guards() {
    for (const auto& guard : contraction_.second.guards) {
      const auto named_guard = with_names(guard);
      bool of_pixels = false;
      bool of_patches = false;
      for (const auto& name : axes_named(named_guard)) {
        const bool pixel =
            (patch_.line && patch_.line->index == name) || (patch_.across && patch_.across->index == name);
        of_pixels = of_pixels || pixel;
        of_patches = of_patches || !pixel;
        const bool moves = name == patch_.depth.name || is_tap(name) || axis_among(patch_.tile, name) != nullptr;
        if (!pixel && moves) return false;
      }
      if (of_pixels && of_patches) return false;
      (of_pixels ? patch_.pixel_guards : patch_.patch_guards).push_back(named_guard);
    }
    return true;
  }

  bool has_known_counts() const {
    auto all = joined_axes(joined_axes(contraction_.batch, contraction_.rows), patch_.others);
    return has_extents(patch_.tile) && has_extents(patch_.outer) && has_extents(patch_.others) && has_extents(all);
  }

  const Contraction& contraction_;
  const StageNode& load_;
  const StageAxes& columns_;
  std::vector<AffineIndex> indices_;
  PatchContraction patch_;
};

}  // namespace

std::optional<PatchContraction> patch_contraction(const Contraction& contraction) {
  return PatchFinder(contraction).found();
}

}  // namespace kw
