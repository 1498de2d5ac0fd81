#include "operators/program/kernels/contract_phases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "operators/program/kernels/affine_index.hpp"

namespace kw {
namespace {

using AxisNumbers = std::map<std::string, std::int64_t>;

/// What a guard's expression is for these indices; truths are 0 or 1. Absent for what guards of phases do not use.
std::optional<std::int64_t> number_of(const StageExpr& node, const AxisNumbers& axes) {
  const bool compares = node->op == StageOp::less || node->op == StageOp::less_equal || node->op == StageOp::equal;
  if (!compares && node->op != StageOp::both) return value_at(node, axes);
  const auto a = number_of(node->operands[0], axes);
  const auto b = number_of(node->operands[1], axes);
  if (!a || !b) return std::nullopt;
  if (node->op == StageOp::less) return *a < *b ? 1 : 0;
  if (node->op == StageOp::less_equal) return *a <= *b ? 1 : 0;
  if (node->op == StageOp::equal) return *a == *b ? 1 : 0;
  return *a != 0 && *b != 0 ? 1 : 0;
}

constexpr std::size_t k_most_phases = 8;
constexpr std::int64_t k_most_phase_taps = 15;  // a table has four bits for each phase

/// Finds out what the phases have of each axis of the filter.
class PhaseFinder {
 public:
  explicit PhaseFinder(const Contraction& contraction) : contraction_(contraction) {}

  /// `index` is of the tensor: its phase, if it has one, is the one that it names. Absent where the guards say more.
  std::optional<PhaseTaps> taps_of(const std::string& tap, std::int64_t count, const std::set<std::string>& index) {
    PhaseTaps taps{"", {count}};
    for (const auto& axis : contraction_.batch) {
      if (contraction_.split.phases.count(axis.name) == 0 || index.count(axis.name) == 0) continue;
      const bool usable = taps.phase.empty() && axis.extent.is_constant() &&
                          axis.extent.value() <= static_cast<std::int64_t>(k_most_phases);
      if (!usable) return std::nullopt;
      taps.phase = axis.name;
      taps.counts.assign(static_cast<std::size_t>(axis.extent.value()), count);
    }
    if (taps.phase.empty() || count > k_most_phase_taps) return taps;
    for (std::size_t phase = 0; phase < taps.counts.size(); ++phase) {
      const auto known = count_of_phase(taps.phase, static_cast<std::int64_t>(phase), tap, count);
      if (!known) return std::nullopt;
      taps.counts[phase] = *known;
    }
    return taps;
  }

 private:
  /// The taps that the guards of the phase and the tap leave, where these are the first ones.
  std::optional<std::int64_t> count_of_phase(const std::string& phase, std::int64_t index, const std::string& tap,
                                             std::int64_t count) const {
    std::int64_t taps = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      const AxisNumbers axes = {{phase, index}, {tap, i}};
      bool there = true;
      for (const auto& guard : contraction_.split.stage.guards) {
        const auto named = axes_named(guard);
        if (std::ranges::any_of(named, [&](const auto& name) { return name != phase && name != tap; })) continue;
        const auto holds = number_of(guard, axes);
        if (!holds) return std::nullopt;
        there = there && *holds != 0;
      }
      if (!there) continue;
      if (taps != i) return std::nullopt;
      ++taps;
    }
    return taps;
  }

  const Contraction& contraction_;
};

std::set<std::string> axes_of_index(const Contraction& contraction, std::size_t dimension) {
  return axes_named(contraction.second.element->operands[dimension]);
}

bool has_fewer(const PhaseTaps& taps, std::int64_t count) {
  return std::ranges::any_of(taps.counts, [&](std::int64_t one) { return one < count; });
}

}  // namespace

std::optional<PatchPhases> patch_phases(const Contraction& contraction, const PatchContraction& patch, bool full) {
  if (contraction.split.phases.empty() || !patch.across) return std::nullopt;
  PhaseFinder finder(contraction);
  const auto last = contraction.second.element->operands.size() - 1;
  const auto across = finder.taps_of(patch.across->tap, patch.across->taps, axes_of_index(contraction, last));
  auto line = std::optional(PhaseTaps{"", {1}});
  if (patch.line) line = finder.taps_of(patch.line->tap, patch.line->taps, axes_of_index(contraction, last - 1));
  auto other = std::optional(PhaseTaps{"", {1}});
  if (patch.others.size() == 1) {
    const auto& axis = patch.others[0];
    std::set<std::string> named;
    for (std::size_t i = 0; i < last; ++i) {
      const auto names = axes_of_index(contraction, i);
      if (names.count(axis.name) > 0) named.insert(names.begin(), names.end());
    }
    if (axis.extent.is_constant()) other = finder.taps_of(axis.name, axis.extent.value(), named);
  }
  if (!across || !line || !other) return std::nullopt;
  PatchPhases phases{*line, *across, *other};
  const std::int64_t others =
      patch.others.size() == 1 && patch.others[0].extent.is_constant() ? patch.others[0].extent.value() : 1;
  const bool fewer = has_fewer(phases.across, patch.across->taps) ||
                     has_fewer(phases.line, patch.line ? patch.line->taps : 1) || has_fewer(phases.other, others);
  return fewer || full ? std::optional(phases) : std::nullopt;
}

std::string phase_taps_text(const PhaseTaps& taps, const std::string& phase, std::int64_t least) {
  const auto first = std::max(taps.counts.front(), least);
  if (std::ranges::all_of(taps.counts, [&](std::int64_t one) { return std::max(one, least) == first; }))
    return std::to_string(first);
  std::uint64_t table = 0;
  for (std::size_t i = taps.counts.size(); i-- > 0;)
    table = table << 4U | static_cast<std::uint64_t>(std::max(taps.counts[i], least));
  return fmt::format("(int)({:#x}u >> 4 * {} & 15)", table, phase);
}

}  // namespace kw
