#include "operators/program/kernels/contract_direct.hpp"

#include <algorithm>

#include "operators/program/kernels/contract_taps.hpp"
#include "operators/program/kernels/contract_text.hpp"
#include "operators/program/kernels/factor_memory.hpp"
#include "program/stages/exact_extent.hpp"
#include "program/stages/rewrite.hpp"

namespace kw {
namespace {

constexpr std::int64_t k_most_written = 32;  ///< bits of an int, and enough text

bool names_any(const std::set<std::string>& named, const StageAxes& axes) {
  return std::ranges::any_of(axes, [&](const StageAxis& axis) { return named.count(axis.name) > 0; });
}

bool is_few(const StageAxis& axis) {
  return axis.extent.is_constant() && axis.extent.value() <= k_most_written;
}

/// a - b; absent where it is no sum of axes.
std::optional<AffineIndex> difference_of(const StageExpr& a, const StageExpr& b) {
  const auto first = affine_index(a, {});
  const auto second = affine_index(b, {});
  const auto negative = second ? affine_times(*second, -1) : std::nullopt;
  return first && negative ? affine_sum(*first, *negative) : std::nullopt;
}

/// Whether a guard holds for all indices of `axes`, or for none; absent where that is not known.
std::optional<bool> decided(const StageExpr& guard, const StageAxes& axes) {
  if (guard->op == StageOp::both) {
    const auto a = decided(guard->operands[0], axes);
    const auto b = decided(guard->operands[1], axes);
    if ((a && !*a) || (b && !*b)) return false;
    return a && b ? std::optional(true) : std::nullopt;
  }
  const bool compares = guard->op == StageOp::less || guard->op == StageOp::less_equal || guard->op == StageOp::equal;
  const auto apart = compares ? difference_of(guard->operands[0], guard->operands[1]) : std::nullopt;
  const auto range = apart ? range_of(*apart, axes) : std::nullopt;
  if (!range) return std::nullopt;
  const auto& [least, largest] = *range;
  if (guard->op == StageOp::equal) {
    const bool is_known = least.is_constant() && largest.is_constant() && least.value() == largest.value();
    return is_known ? std::optional(least.value() == 0) : std::nullopt;
  }
  const std::int64_t bound = guard->op == StageOp::less ? -1 : 0;
  if (largest.is_constant() && largest.value() <= bound) return true;
  if (least.is_constant() && least.value() > bound) return false;
  return std::nullopt;
}

/// Makes a DirectContraction, or finds out that there is none.
class DirectFinder {
 public:
  DirectFinder(const Contraction& contraction, const StageAxes& windows)
      : contraction_(contraction),
        windows_(windows),
        all_axes_(joined_axes(contraction.split.stage.axes, contraction.split.stage.inner)) {}

  std::optional<DirectContraction> found() {
    const auto& element = *contraction_.second.element;
    const bool usable = element.op == StageOp::load && element.tensor.type.dtype == ElementType::float32 &&
                        !element.operands.empty() && !contraction_.columns.empty() && !contraction_.rows.empty() &&
                        stored_address(contraction_);
    if (!usable) return std::nullopt;
    find_written();
    if (!find_inner() || !share_guards() || !find_loads()) return std::nullopt;
    const bool counted = has_extents(direct_.around) && has_extents(direct_.windows) &&
                         has_extents(contraction_.columns) && has_extents(contraction_.rows) &&
                         has_extents(direct_.inner);
    return counted ? std::optional(std::move(direct_)) : std::nullopt;
  }

 private:
  /// What the innermost index of the image slides along.
  void find_written() {
    constexpr std::int64_t k_most_phases = 4;
    const auto named = axes_named(contraction_.second.element->operands.back());
    for (const auto& axis : contraction_.inner) {
      if (named.count(axis.name) > 0 && is_few(axis) && direct_.tap.name.empty()) direct_.tap = axis;
    }
    const auto is_phase = [&](const StageAxis& axis) {
      return direct_.phase.name.empty() && contraction_.split.phases.count(axis.name) > 0 &&
             named.count(axis.name) > 0 && axis.extent.is_constant() && axis.extent.value() <= k_most_phases;
    };
    for (const auto& axis : windows_) {
      if (is_phase(axis)) {
        direct_.phase = axis;
        direct_.reduces_phase = true;
      } else {
        direct_.windows.push_back(axis);
      }
    }
    for (const auto& axis : contraction_.batch) {
      if (is_phase(axis)) {
        direct_.phase = axis;
      } else {
        direct_.around.push_back(axis);
      }
    }
  }

  bool is_written(const std::string& name) const { return name == direct_.tap.name || name == direct_.phase.name; }

  /// The one axis whose extent may be anything comes first.
  bool find_inner() {
    for (const auto& axis : contraction_.split.stage.inner) {
      if (axis.name == direct_.tap.name) continue;
      const bool first = !is_few(axis) || direct_.inner.empty();
      direct_.inner.insert(first ? direct_.inner.begin() : direct_.inner.end(), axis);
    }
    return !direct_.inner.empty() && std::all_of(direct_.inner.begin() + 1, direct_.inner.end(), is_few) &&
           direct_.taps() * direct_.written() <= k_most_filter;
  }

  bool share_guards() {
    for (const auto* factor : {&contraction_.first, &contraction_.second}) {
      if (!std::ranges::all_of(factor->guards, [&](const StageExpr& guard) { return share_guard(guard); }))
        return false;
    }
    direct_.guarded = window_taps(direct_.inner, direct_.tap_guards);
    return direct_.guarded.empty() == direct_.tap_guards.empty();
  }

  bool share_guard(const StageExpr& guard) {
    const auto named = axes_named(guard);
    const bool written = std::ranges::any_of(named, [&](const std::string& name) { return is_written(name); });
    const bool pixels = names_any(named, contraction_.columns);
    const bool steps = names_any(named, direct_.inner);
    // The filter has a zero where one of its rows does not hold.
    if (names_any(named, contraction_.rows)) return !written && !pixels;
    if (written) {
      load_guards_.push_back(guard);
      return !steps;
    }
    (!pixels ? direct_.step_guards : steps ? direct_.tap_guards : direct_.pixel_guards).push_back(guard);
    return true;
  }

  /// Whether both are the same condition on the same sums of axes.
  bool same_guard(const StageExpr& a, const StageExpr& b) const {
    if (a->op != b->op || a->operands.size() != b->operands.size()) return false;
    return std::equal(a->operands.begin(), a->operands.end(), b->operands.begin(),
                      [&](const StageExpr& one, const StageExpr& other) {
                        if (one->type != StageType::integer) return same_guard(one, other);
                        const auto first = affine_index(one, contraction_.split.phases);
                        const auto second = affine_index(other, contraction_.split.phases);
                        return first && second && same_affine(*first, *second);
                      });
  }

  /// What is left of the guards of a phase's tap; absent where one does not hold.
  std::optional<std::vector<StageExpr>> guards_at(const AxisValues& at) const {
    std::vector<StageExpr> guards;
    for (const auto& guard : load_guards_) {
      auto here = with_axes(guard, at);
      const auto holds = decided(here, all_axes_);
      if (holds && !*holds) return std::nullopt;
      if (!holds) guards.push_back(std::move(here));
    }
    return guards;
  }

  bool find_loads() {
    const auto taps = direct_.tap.name.empty() ? 1 : direct_.tap.extent.value();
    for (std::int64_t tap = 0; tap < taps; ++tap) {
      for (std::int64_t phase = 0; phase < direct_.phases(); ++phase) {
        AxisValues at;
        if (!direct_.tap.name.empty()) at[direct_.tap.name] = StageExpr(Extent(tap));
        if (!direct_.phase.name.empty()) at[direct_.phase.name] = StageExpr(Extent(phase));
        const auto guards = guards_at(at);
        if (!guards) continue;
        const auto load = load_at(with_axes(contraction_.second.element, at), *guards);
        if (!load) return false;
        direct_.uses.push_back({*load, phase, tap});
      }
    }
    // Sums that load nothing in some phase are as they were; those that never do are none.
    const auto bits = std::ranges::count_if(direct_.loads, [](const DirectLoad& one) { return !one.guards.empty(); });
    std::int64_t taken = bits + 1;
    for (const auto& axis : direct_.guarded) taken += axis.extent.value();
    return !direct_.uses.empty() && taken <= k_most_written &&
           std::ranges::is_sorted(direct_.uses, {}, &DirectUse::tap);
  }

  /// The place among the loads of an element under these guards; absent where its place is no sum that differs from
  /// the others' by a constant.
  std::optional<std::size_t> load_at(const StageExpr& element, const std::vector<StageExpr>& guards) {
    auto address = load_address(*element, contraction_.split.phases);
    if (!address) return std::nullopt;
    if (direct_.loads.empty()) direct_.start = *address;
    const auto apart = exact_difference(address->constant, direct_.start.constant);
    address->constant = direct_.start.constant;
    if (!apart || !same_affine(*address, direct_.start)) return std::nullopt;
    for (std::size_t i = 0; i < direct_.loads.size(); ++i) {
      const auto& one = direct_.loads[i];
      const bool same = one.apart.text() == apart->text() &&
                        std::equal(one.guards.begin(), one.guards.end(), guards.begin(), guards.end(),
                                   [&](const StageExpr& a, const StageExpr& b) { return same_guard(a, b); });
      if (same) return i;
    }
    direct_.loads.push_back({*apart, guards});
    return direct_.loads.size() - 1;
  }

  static constexpr std::int64_t k_most_filter = 384;  ///< of a channel, in shared memory

  const Contraction& contraction_;
  const StageAxes& windows_;
  StageAxes all_axes_;
  std::vector<StageExpr> load_guards_;  ///< that name what is written out
  DirectContraction direct_;
};

}  // namespace

std::int64_t DirectContraction::taps() const {
  std::int64_t count = 1;
  for (std::size_t i = 1; i < inner.size(); ++i) count *= inner[i].extent.value();
  return count;
}

std::optional<DirectContraction> direct_contraction(const Contraction& contraction, const StageAxes& windows) {
  return DirectFinder(contraction, windows).found();
}

}  // namespace kw
