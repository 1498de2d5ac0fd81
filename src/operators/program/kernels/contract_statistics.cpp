#include "operators/program/kernels/contract_statistics.hpp"

#include <algorithm>
#include <iterator>

#include "operators/program/kernels/affine_index.hpp"
#include "operators/program/kernels/contract_direct.hpp"
#include "operators/program/kernels/contract_direct_shape.hpp"
#include "operators/program/kernels/contract_shape.hpp"
#include "operators/program/kernels/program_contracts.hpp"
#include "program/stages/exact_extent.hpp"
#include "program/stages/rewrite.hpp"
#include "program/stages/split.hpp"
#include "program/stages/work.hpp"

namespace kw {
namespace {

const StageAxis* statistics_axis(const StageAxes& axes, const std::string& name) {
  const auto found = std::ranges::find(axes, name, &StageAxis::name);
  return found == axes.end() ? nullptr : &*found;
}

/// With the axes of `sum` in the place of its own, which are as many.
Stage with_axes_of(const Stage& sum, Stage squares) {
  AxisValues names;
  for (std::size_t i = 0; i < sum.axes.size(); ++i) names[squares.axes[i].name] = axis_index(sum.axes[i].name);
  for (std::size_t i = 0; i < sum.inner.size(); ++i) names[squares.inner[i].name] = axis_index(sum.inner[i].name);
  squares.axes = sum.axes;
  squares.inner = sum.inner;
  rewrite_stage(squares, [&](const StageExpr& node) {
    if (node->op != StageOp::axis) return StageExpr();
    const auto found = names.find(node->axis);
    return found == names.end() ? StageExpr() : found->second;
  });
  return squares;
}

class StatisticsFinder {
 public:
  StatisticsFinder(const StageProgram& program, const Stage& product, const std::set<std::string>& apart)
      : program_(program), product_(product), kept_(apart) {}

  std::optional<ContractStatistics> found(const std::vector<Stage>& sums) {
    auto contraction = contraction_of(product_, ColumnChoice::contiguous);
    const bool usable = contraction && !product_.place && !product_.in_parts &&
                        program_.buffers[product_.buffer].type.dtype == ElementType::float32;
    if (!usable || !pair_up(sums)) return std::nullopt;
    found_.contraction = *std::move(contraction);
    for (const auto& moments : found_.moments) {
      if (!keep_columns(moments.sum)) return std::nullopt;
    }
    move_kept();
    if (found_.contraction.columns.empty() || found_.contraction.rows.empty()) return std::nullopt;
    for (auto& moments : found_.moments) {
      if (!find_places(moments)) return std::nullopt;
    }
    return std::move(found_);
  }

 private:
  bool pair_up(const std::vector<Stage>& sums) {
    std::set<std::size_t> known;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const bool has_squares =
          i > 0 && !found_.moments.empty() && !found_.moments.back().squares && are_moments(sums[i - 1], sums[i]);
      if (!reads_own(sums[i], known)) return false;
      known.insert(sums[i].buffer);
      if (has_squares) {
        found_.moments.back().squares = with_axes_of(sums[i - 1], sums[i]);
      } else {
        if (!is_plain_sum(sums[i])) return false;
        found_.moments.push_back({sums[i], {}, {}, {}});
      }
    }
    return !found_.moments.empty();
  }

  /// Besides the values, inputs and what is known already; and the values in the body alone.
  bool reads_own(const Stage& sum, const std::set<std::size_t>& known) const {
    const auto read = buffers_read(sum);
    bool own = std::ranges::all_of(read, [&](std::size_t buffer) {
      return buffer == product_.buffer || known.count(buffer) > 0 || program_.buffers[buffer].use == BufferUse::input;
    });
    if (!sum.epilogue) return own;
    for_each_load(sum.epilogue, [&](const StageNode& load) { own = own && load.tensor.buffer != product_.buffer; });
    return own;
  }

  bool is_plain_sum(const Stage& sum) const {
    const auto& body = sum.body;
    return sum.kind == StageKind::reduce && sum.op == ReduceOp::sum && !sum.position && !sum.place &&
           sum.guards.empty() && body->op == StageOp::load && body->type == StageType::real &&
           body->tensor.buffer == product_.buffer;
  }

  /// Of the values, by axes of the sum: one for each axis of the product.
  StageIndices indices_of_values(const Stage& sum) const {
    const auto& load = *sum.body;
    return reshaped_indices(load.operands, load.tensor.type.shape, extents_of(product_.axes));
  }

  /// Whether all of the product's axis is summed.
  bool sums_all(const Stage& sum, const StageExpr& index, std::size_t i) const {
    if (index->op != StageOp::axis) return false;
    const auto* inner = statistics_axis(sum.inner, index->axis);
    return inner != nullptr && inner->extent.text() == product_.axes[i].extent.text();
  }

  bool names_inner(const Stage& sum, const StageExpr& index) const {
    const auto named = axes_named(index);
    return std::ranges::any_of(named,
                               [&](const std::string& name) { return statistics_axis(sum.inner, name) != nullptr; });
  }

  /// Columns that the sum has one index of are kept; absent where it has some indices of one.
  bool keep_columns(const Stage& sum) {
    const auto indices = indices_of_values(sum);
    std::set<std::string> seen;
    for (std::size_t i = 0; i < indices.size(); ++i) {
      for (const auto& name : axes_named(indices[i])) {
        if (statistics_axis(sum.inner, name) != nullptr && !seen.insert(name).second) return false;
      }
      if (sums_all(sum, indices[i], i)) continue;
      for (const auto& name : axes_named(found_.contraction.split.place[i])) {
        if (statistics_axis(found_.contraction.columns, name) == nullptr) continue;
        if (names_inner(sum, indices[i])) return false;
        kept_.insert(name);
      }
    }
    return std::ranges::all_of(sum.inner, [&](const StageAxis& axis) {
      return seen.count(axis.name) > 0 || (axis.extent.is_constant() && axis.extent.value() == 1);
    });
  }

  void move_kept() {
    auto& contraction = found_.contraction;
    for (const auto& axis : contraction.columns) {
      if (kept_.count(axis.name) > 0) found_.kept.push_back(axis);
    }
    std::erase_if(contraction.columns, [&](const StageAxis& axis) { return kept_.count(axis.name) > 0; });
    contraction.batch.insert(contraction.batch.begin(), found_.kept.begin(), found_.kept.end());
    found_.batch = contraction.batch;
  }

  bool find_places(JoinedMoments& moments) const {
    const auto indices = indices_of_values(moments.sum);
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const auto& place = found_.contraction.split.place[i];
      const bool placed =
          sums_all(moments.sum, indices[i], i) ? join_all(moments, place) : place_at(moments, place, indices[i]);
      if (!placed) return false;
    }
    return true;
  }

  /// All parts along what the place is made of are joined.
  bool join_all(JoinedMoments& moments, const StageExpr& place) const {
    for (const auto& name : axes_named(place)) {
      if (statistics_axis(found_.contraction.columns, name) != nullptr) continue;
      const auto* axis = part_axis(name);
      if (axis == nullptr) return false;
      StageAxis joined{"joined_" + name, axis->extent};
      while (is_taken(moments, joined.name)) joined.name += "_";
      moments.joined.push_back(joined);
      moments.at[name] = axis_index(joined.name);
    }
    return true;
  }

  const StageAxis* part_axis(const std::string& name) const {
    const auto* row = statistics_axis(found_.contraction.rows, name);
    return row != nullptr ? row : statistics_axis(found_.contraction.batch, name);
  }

  static bool is_taken(const JoinedMoments& moments, const std::string& name) {
    return statistics_axis(moments.sum.axes, name) != nullptr || statistics_axis(moments.sum.inner, name) != nullptr ||
           statistics_axis(moments.joined, name) != nullptr;
  }

  /// Parts of that index of the product's axis: place = axis, or outer * count + inner.
  bool place_at(JoinedMoments& moments, const StageExpr& place, const StageExpr& index) const {
    for (const auto& name : axes_named(index)) {
      const auto* inner = statistics_axis(moments.sum.inner, name);
      if (inner != nullptr) moments.joined.push_back(*inner);
    }
    if (place->op == StageOp::integer) return true;
    if (place->op == StageOp::axis) {
      moments.at[place->axis] = index;
      return part_axis(place->axis) != nullptr;
    }
    const auto form = affine_index(place, {});
    const bool two = form && form->terms.empty() && form->constant.text() == "0" && form->coefficients.size() == 2;
    if (!two) return false;
    const auto first = form->coefficients.begin(), second = std::next(first);
    const auto& [inner, one] = first->second.text() == "1" ? *first : *second;
    const auto& [outer, count] = first->second.text() == "1" ? *second : *first;
    const auto* axis = part_axis(inner);
    if (axis == nullptr || part_axis(outer) == nullptr || one.text() != "1" || count.text() != axis->extent.text())
      return false;
    moments.at[outer] = floor_divide(index, StageExpr(count));
    moments.at[inner] = floor_modulo(index, StageExpr(count));
    return true;
  }

  const StageProgram& program_;
  const Stage& product_;
  std::set<std::string> kept_;
  ContractStatistics found_;
};

/// Whether all of the moments sum what a part has all indices of, and parts can be counted.
bool can_leave_parts(const ContractStatistics& statistics, const StageAxes& batch) {
  auto parts = batch;
  parts.insert(parts.end(), statistics.contraction.rows.begin(), statistics.contraction.rows.end());
  return has_extents(parts) && std::ranges::all_of(statistics.moments, [&](const JoinedMoments& moments) {
           const bool summed = std::ranges::all_of(statistics.batch, [&](const StageAxis& axis) {
             if (statistics_axis(batch, axis.name) != nullptr) return true;
             const auto& at = moments.at.at(axis.name);
             return at->op == StageOp::axis && statistics_axis(moments.joined, at->axis) != nullptr;
           });
           return summed && has_extents(moments.sum.axes) && has_extents(joined_by_parts(statistics, moments, batch));
         });
}

/// What is left of an image has to fill blocks.
bool has_columns_enough(const ContractStatistics& statistics) {
  constexpr double k_columns = 4096.0;
  return statistics.kept.empty() || count_of(statistics.contraction.columns) >= k_columns;
}

std::optional<ContractStatistics> left_directly(const GroupContext& context, const Stage& product,
                                                const std::vector<Stage>& sums) {
  auto statistics = contract_statistics(context.program, product, sums);
  if (!statistics) return std::nullopt;
  if (context.ways.statistics == WayUse::estimated && !has_columns_enough(*statistics)) return std::nullopt;
  const auto direct = direct_contraction(statistics->contraction);
  // What the block joins lies in shared memory beside the filter of up to 32 channels.
  constexpr std::int64_t k_most_places = 360;
  if (!direct || direct_places(*direct) > k_most_places || !can_leave_parts(*statistics, direct->around))
    return std::nullopt;
  return statistics;
}

/// Whether it reduces parts of an axis.
bool has_windows(const Stage& product, const Stage& reduction) {
  const auto indices = tail_indices(product, reduction);
  return indices && std::ranges::any_of(*indices, [](const TailIndex& index) { return index.count > 1; });
}

/// Windows that tiles have whole; false where there are others.
bool add_windows(const Stage& product, const std::vector<Stage>& windows, ContractStatistics& statistics) {
  for (const auto& window : windows) {
    auto tailed = tailed_contraction(product, window);
    if (!tailed || tailed->tail.kind != TailKind::windows) return false;
    // What is reduced is finished already.
    tailed->contraction.split.stage.epilogue = StageExpr();
    tailed->tail.epilogue = StageExpr();
    statistics.windows.push_back(*std::move(tailed));
  }
  return true;
}

/// Of tiles of pixels, each of a phase of its own.
std::optional<ContractStatistics> left_by_patches(const GroupContext& context, const Stage& product,
                                                  const std::vector<Stage>& sums, const std::vector<Stage>& windows) {
  const auto whole = contraction_of(product, ColumnChoice::contiguous);
  const auto patch = whole ? patch_contraction(*whole) : std::nullopt;
  if (!patch || !patch->across) return std::nullopt;
  auto size = contract_size(*whole);
  choose_ways(*size.patch, size.rounded, context.ways);
  if (size.patch->joined > 1 || !by_patches(size, TileProducts::patches, context.device)) return std::nullopt;
  std::set<std::string> outer;
  for (const auto& axis : patch->outer) outer.insert(axis.name);
  auto statistics = contract_statistics(context.program, product, sums, outer);
  if (!statistics || statistics->kept.size() != outer.size() || !can_leave_parts(*statistics, statistics->batch))
    return std::nullopt;
  statistics->contraction = *whole;
  if (!add_windows(product, windows, *statistics)) return std::nullopt;
  return statistics;
}

}  // namespace

std::optional<ContractStatistics> contract_statistics(const StageProgram& program, const Stage& product,
                                                      const std::vector<Stage>& sums,
                                                      const std::set<std::string>& apart) {
  return StatisticsFinder(program, product, apart).found(sums);
}

StageAxes joined_by_parts(const ContractStatistics& statistics, const JoinedMoments& moments, const StageAxes& batch) {
  std::set<std::string> named;
  for (const auto* axes : {&batch, &statistics.contraction.rows}) {
    for (const auto& axis : *axes) named.merge(axes_named(moments.at.at(axis.name)));
  }
  StageAxes joined;
  std::ranges::copy_if(moments.joined, std::back_inserter(joined),
                       [&](const StageAxis& axis) { return named.count(axis.name) > 0; });
  return joined;
}

std::optional<ContractStatistics> left_statistics(const GroupContext& context, const Stage& product,
                                                  const std::vector<Stage>& reductions) {
  if (context.ways.statistics == WayUse::never || context.dialect != cuda_dialect()) return std::nullopt;
  // What the cache of all units holds is read again at little cost.
  constexpr double k_bytes = 4.0;
  const bool is_large = k_bytes * count_of(product.axes) > static_cast<double>(context.device.l2_cache_bytes);
  if (context.ways.statistics == WayUse::estimated && !is_large) return std::nullopt;
  std::vector<Stage> sums, windows;
  for (const auto& one : reductions) (has_windows(product, one) ? windows : sums).push_back(one);
  switch (context.contracts->products()) {
    case TileProducts::direct:
      return windows.empty() ? left_directly(context, product, sums) : std::nullopt;
    case TileProducts::patches:
      return left_by_patches(context, product, sums, windows);
    default:
      return std::nullopt;
  }
}

}  // namespace kw
