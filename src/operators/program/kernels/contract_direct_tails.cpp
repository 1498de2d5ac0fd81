#include "operators/program/kernels/contract_direct_tails.hpp"

#include <algorithm>

#include "operators/program/kernels/contract_direct.hpp"
#include "operators/program/kernels/contract_shape.hpp"
#include "operators/program/kernels/program_contracts.hpp"
#include "operators/program/kernels/rising.hpp"
#include "program/stages/rewrite.hpp"
#include "program/stages/work.hpp"

namespace kw {
namespace {

const StageAxis* axis_called(const StageAxes& axes, const std::string& name) {
  const auto found = std::ranges::find(axes, name, &StageAxis::name);
  return found == axes.end() ? nullptr : &*found;
}

/// An axis of the output as it was split: step * stride + phase, or a step alone.
struct SplitPlace {
  std::string step, phase;
  std::int64_t stride = 1;
};

std::optional<SplitPlace> split_place(const StageExpr& place, const std::set<std::string>& phases) {
  if (place->op == StageOp::axis) return SplitPlace{place->axis, "", 1};
  const auto form = affine_index(place, {});
  const bool plain = form && form->terms.empty() && form->constant.is_constant() && form->constant.value() == 0 &&
                     form->coefficients.size() == 2;
  if (!plain) return std::nullopt;
  SplitPlace found;
  for (const auto& [axis, coefficient] : form->coefficients) {
    if (!coefficient.is_constant()) return std::nullopt;
    if (phases.count(axis) > 0 && coefficient.value() == 1) {
      found.phase = axis;
    } else {
      found.step = axis;
      found.stride = coefficient.value();
    }
  }
  return found.phase.empty() || found.step.empty() ? std::nullopt : std::optional(found);
}

class DirectTailFinder {
 public:
  DirectTailFinder(const Stage& product, const Stage& reduction) : product_(product), reduction_(reduction) {}

  std::optional<DirectTailed> found() {
    const auto indices = tail_indices(product_, reduction_);
    auto contraction = indices ? contraction_of(product_, ColumnChoice::contiguous) : std::nullopt;
    if (!contraction) return std::nullopt;
    found_.contraction = *std::move(contraction);
    for (std::size_t i = 0; i < indices->size(); ++i) {
      if (!add_axis((*indices)[i], i)) return std::nullopt;
    }
    auto& changed = found_.contraction;
    if (changed.columns.empty() || found_.tail.windows.empty()) return std::nullopt;
    // An axis of the result that no index names has one element.
    const bool known = std::ranges::all_of(reduction_.axes, [&](const StageAxis& axis) {
      return kept_.count(axis.name) > 0 || (axis.extent.is_constant() && axis.extent.value() == 1);
    });
    if (!known) return std::nullopt;
    rewrite();
    if (reduction_.epilogue) found_.tail.epilogue = with_axes(reduction_.epilogue, kept_);
    found_.tail.op = reduction_.op;
    reduce_before_rising();
    if (!direct_contraction(changed, found_.tail.windows)) return std::nullopt;
    return std::move(found_);
  }

 private:
  std::string fresh_name(std::string name) const {
    const auto& stage = found_.contraction.split.stage;
    while (axis_called(stage.axes, name) != nullptr || axis_called(stage.inner, name) != nullptr ||
           values_.count(name) > 0)
      name += "_";
    return name;
  }

  bool add_axis(const TailIndex& index, std::size_t i) {
    auto& contraction = found_.contraction;
    const auto& place = contraction.split.place[i];
    if (index.reduced.empty()) {
      const auto* kept = axis_called(reduction_.axes, index.kept);
      if (kept->extent.text() != product_.axes[i].extent.text()) return false;
      kept_[index.kept] = place;
      return true;
    }
    const auto split = split_place(place, contraction.split.phases);
    const auto* step = split ? axis_called(contraction.columns, split->step) : nullptr;
    if (step == nullptr) return false;
    return index.kept.empty() ? reduce_all(index, i, *split, *step) : add_window(index, *split, *step);
  }

  bool reduce_all(const TailIndex& index, std::size_t i, const SplitPlace& split, const StageAxis& step) {
    const auto* reduced = axis_called(reduction_.inner, index.reduced);
    if (!split.phase.empty() || reduced->extent.text() != product_.axes[i].extent.text()) return false;
    found_.tail.windows.push_back(step);
    std::erase_if(found_.contraction.columns, [&](const StageAxis& axis) { return axis.name == split.step; });
    return true;
  }

  /// Windows of as many steps as their stride divides them into, in all phases.
  bool add_window(const TailIndex& index, const SplitPlace& split, const StageAxis& step) {
    auto& contraction = found_.contraction;
    if (index.count % split.stride != 0) return false;
    const auto steps = index.count / split.stride;
    const StageAxis kept{fresh_name("window_" + split.step), axis_called(reduction_.axes, index.kept)->extent};
    const StageAxis inside{fresh_name("of_window_" + split.step), Extent(steps)};
    auto value = axis_index(kept.name);
    if (steps > 1) {
      value = value * StageExpr(Extent(steps)) + axis_index(inside.name);
      found_.tail.windows.push_back(inside);
      new_axes_.push_back(inside);
    }
    values_[step.name] = value;
    new_axes_.push_back(kept);
    kept_[index.kept] = axis_index(kept.name);
    *std::ranges::find(contraction.columns, split.step, &StageAxis::name) = kept;
    const auto phase = std::ranges::find(contraction.batch, split.phase, &StageAxis::name);
    if (phase != contraction.batch.end()) {
      found_.tail.windows.push_back(*phase);
      contraction.batch.erase(phase);
      whole_.insert(split.phase);
    }
    return true;
  }

  /// What is left of a condition without those on phases that windows have all of.
  StageExpr left_of(const StageExpr& stored) const {
    if (!stored) return stored;
    if (stored->op == StageOp::both) return kw::both(left_of(stored->operands[0]), left_of(stored->operands[1]));
    const auto named = axes_named(stored);
    return std::ranges::any_of(named, [&](const std::string& name) { return whole_.count(name) > 0; }) ? StageExpr()
                                                                                                       : stored;
  }

  void rewrite() {
    auto& contraction = found_.contraction;
    auto& split = contraction.split;
    for (auto* factor : {&contraction.first, &contraction.second}) {
      factor->element = with_axes(factor->element, values_);
      for (auto& guard : factor->guards) guard = with_axes(guard, values_);
      factor->axes = axes_named(factor->element);
    }
    if (split.stage.epilogue) split.stage.epilogue = with_axes(split.stage.epilogue, values_);
    split.stored = left_of(split.stored);
    std::erase_if(split.stage.axes, [&](const StageAxis& axis) { return values_.count(axis.name) > 0; });
    split.stage.axes.insert(split.stage.axes.end(), new_axes_.begin(), new_axes_.end());
    split.stage.buffer = reduction_.buffer;
    split.output = reduction_.axes;
    split.place.clear();
    for (const auto& axis : reduction_.axes) {
      // An axis of one element that stays where all of it is reduced.
      const auto kept = kept_.find(axis.name);
      split.place.push_back(kept == kept_.end() ? StageExpr(0) : kept->second);
    }
  }

  /// Of the largest of some outputs, what rises with the sums alone is computed once, behind the reduction.
  void reduce_before_rising() {
    auto& of_sum = found_.contraction.split.stage.epilogue;
    auto& tail = found_.tail;
    if (tail.op == ReduceOp::sum || !of_sum || !rises_with_result(of_sum)) return;
    const auto named = axes_named(of_sum);
    if (std::ranges::any_of(tail.windows, [&](const StageAxis& axis) { return named.count(axis.name) > 0; })) return;
    const auto behind = of_sum;
    const auto with_result = [&](const StageExpr& node) { return node->op == StageOp::result ? behind : StageExpr(); };
    tail.epilogue = tail.epilogue ? rewritten(tail.epilogue, with_result) : behind;
    of_sum = StageExpr();
  }

  const Stage& product_;
  const Stage& reduction_;
  AxisValues values_;  ///< of the contraction's axes that are no more
  AxisValues kept_;    ///< of the reduction's axes
  StageAxes new_axes_;
  std::set<std::string> whole_;  ///< phases that windows have all of
  DirectTailed found_;
};

class DirectRowsFinder {
 public:
  DirectRowsFinder(const Stage& product, const std::vector<Stage>& reductions)
      : product_(product), reductions_(reductions) {}

  std::optional<DirectTailed> found() {
    auto contraction = contraction_of(product_, ColumnChoice::contiguous);
    const bool usable = contraction && contraction->rows.size() == 1 && !product_.place && !product_.in_parts;
    if (!usable) return std::nullopt;
    found_.contraction = *std::move(contraction);
    for (const auto& reduction : reductions_) {
      if (!add(reduction)) return std::nullopt;
    }
    auto& split = found_.contraction.split;
    const auto& last = reductions_.back();
    split.stage.buffer = last.buffer;
    split.output = last.axes;
    split.place = known_.at(last.buffer);
    if (!has_extents(last.axes) || !direct_contraction(found_.contraction)) return std::nullopt;
    return std::move(found_);
  }

 private:
  bool add(const Stage& reduction) {
    const bool simple = reduction.kind == StageKind::reduce && !reduction.position && !reduction.place &&
                        reduction.guards.empty() && reduction.inner.size() == 1 && !reduction.rounds_factors;
    const bool known =
        reduction.op == ReduceOp::sum || reduction.op == ReduceOp::maximum || reduction.op == ReduceOp::minimum;
    if (!simple || !known || !find_axes(reduction)) return false;
    const auto of_row = [&](const StageExpr& node) {
      return node->op == StageOp::load && node->tensor.buffer == product_.buffer ? reduction_result(StageType::real)
                                                                                 : StageExpr();
    };
    RowReduction row{reduction.buffer, reduction.op, with_axes(rewritten(reduction.body, of_row), kept_), {}};
    if (reduction.epilogue) row.epilogue = with_axes(reduction.epilogue, kept_);
    // What else it reads by the row's index would have to be loaded for each of them.
    if (axes_named(row.body).count(reduction.inner[0].name) > 0) return false;
    found_.tail.rows.push_back(std::move(row));
    auto& places = known_[reduction.buffer];
    for (const auto& axis : reduction.axes) {
      const auto kept = kept_.find(axis.name);
      if (kept == kept_.end() && !(axis.extent.is_constant() && axis.extent.value() == 1)) return false;
      places.push_back(kept == kept_.end() ? StageExpr(0) : kept->second);
    }
    return true;
  }

  /// Each load of sums is that of the pixel's own ones; the axes of the reduction by those of the contraction.
  bool find_axes(const Stage& reduction) {
    kept_.clear();
    const auto& contraction = found_.contraction;
    bool usable = reduction.body->type == StageType::real, reads = false;
    const auto visit = [&](const StageNode& load) {
      if (load.tensor.buffer != product_.buffer) return;
      reads = true;
      usable = usable && load.operands.size() == product_.axes.size();
      for (std::size_t i = 0; usable && i < load.operands.size(); ++i) {
        const auto& operand = load.operands[i];
        const auto& whole = product_.axes[i];
        const bool is_row = whole.name == contraction.rows[0].name;
        const bool one = operand->op == StageOp::integer && whole.extent.is_constant() && whole.extent.value() == 1;
        if (one && !is_row) continue;
        usable = operand->op == StageOp::axis;
        if (!usable) break;
        const auto* axis = axis_called(is_row ? reduction.inner : reduction.axes, operand->axis);
        usable = axis != nullptr && axis->extent.text() == whole.extent.text();
        const auto& place = contraction.split.place[i];
        if (!is_row) usable = usable && same_expression(kept_.emplace(operand->axis, place).first->second, place);
      }
    };
    for_each_load(reduction.body, visit);
    bool again = false;
    if (reduction.epilogue)
      for_each_load(reduction.epilogue,
                    [&](const StageNode& load) { again = again || load.tensor.buffer == product_.buffer; });
    return usable && reads && !again && reads_own_results(reduction);
  }

  /// Whether results of reductions before it are read at the pixel's own place alone.
  bool reads_own_results(const Stage& reduction) const {
    bool own = true;
    for_each_load(reduction, [&](const StageNode& load) {
      const auto known = known_.find(load.tensor.buffer);
      if (known == known_.end()) return;
      own = own && load.operands.size() == known->second.size();
      for (std::size_t i = 0; own && i < load.operands.size(); ++i) {
        const auto& extent = load.tensor.type.shape[i];
        const bool one = extent.is_constant() && extent.value() == 1;
        own = one || same_expression(with_axes(load.operands[i], kept_), known->second[i]);
      }
    });
    return own;
  }

  const Stage& product_;
  const std::vector<Stage>& reductions_;
  AxisValues kept_;                            ///< of a reduction's axes
  std::map<std::size_t, StageIndices> known_;  ///< places of results so far, by buffer
  DirectTailed found_;
};

}  // namespace

std::optional<DirectTailed> direct_rows(const Stage& product, const std::vector<Stage>& reductions) {
  return DirectRowsFinder(product, reductions).found();
}

std::optional<DirectTailed> direct_tailed(const Stage& product, const Stage& reduction) {
  return DirectTailFinder(product, reduction).found();
}

bool has_direct_tails(const GroupContext& context) {
  if (context.ways.tails == WayUse::never || context.dialect != cuda_dialect()) return false;
  return !context.contracts->sizes().empty() && context.contracts->products() == TileProducts::direct;
}

bool has_windows_enough(const GroupContext& context, const DirectTailed& tailed) {
  constexpr double k_unit_windows = 1024.0;
  const auto& contraction = tailed.contraction;
  // A thread with fewer rows than there are would compute them again for each reduction.
  constexpr double k_most_rows = 16.0;
  const bool of_rows = !tailed.tail.rows.empty();
  const double rows = of_rows ? 1.0 : count_of(contraction.rows);
  const double windows = count_of(contraction.batch) * rows * count_of(contraction.columns);
  return context.ways.tails == WayUse::always ||
         ((!of_rows || count_of(contraction.rows) <= k_most_rows) &&
          windows >= k_unit_windows * static_cast<double>(context.device.compute_units));
}

}  // namespace kw
