#include "operators/program/kernels/contract_joined_phases.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "language/kernel_texts.hpp"
#include "operators/program/kernels/affine_index.hpp"
#include "operators/program/kernels/contract_phases.hpp"
#include "operators/program/kernels/contract_stores.hpp"
#include "operators/program/kernels/contract_text.hpp"

namespace kw {
namespace {

constexpr std::int64_t k_most_joined = 8;

bool is_number(const Extent& extent, std::int64_t number) {
  return extent.is_constant() && extent.value() == number;
}

/// Whether the output's places along a line are phases first and pixels then, and no other index names the two.
bool alternate(const Contraction& contraction, const PatchContraction& patch, const StageAxis& phase) {
  const auto last = affine_index(contraction.split.place.back(), contraction.split.phases);
  const auto address = stored_address(contraction);
  if (!last || !address || !last->terms.empty() || !address->terms.empty() || !is_number(last->constant, 0))
    return false;
  const auto is_times = [](const AffineIndex& index, const std::string& axis, std::int64_t number) {
    const auto found = index.coefficients.find(axis);
    return found != index.coefficients.end() && is_number(found->second, number);
  };
  const auto names_both = [&](const AffineIndex& index) {
    return is_times(index, patch.across->axis, phase.extent.value()) && is_times(index, phase.name, 1);
  };
  return last->coefficients.size() == 2 && names_both(*last) && names_both(*address);
}

/// Which outputs there are must be the same for all rows of a tile.
bool guards_name_rows(const Contraction& contraction) {
  if (!contraction.split.stored) return false;
  const auto named = axes_named(contraction.split.stored);
  return std::ranges::any_of(contraction.rows, [&](const StageAxis& row) { return named.count(row.name) > 0; });
}

/// The address of an output without what its place in a line adds.
AffineIndex address_of_line(const Contraction& contraction, const PatchContraction& patch) {
  auto address = *stored_address(contraction);
  address.coefficients.erase(patch.across->axis);
  address.coefficients.erase(contraction.batch.back().name);
  return address;
}

/// Which phase is computed in a turn: from a table like those of taps.
std::string phase_of_turn(const JoinedPhases& joined) {
  const bool all = std::ssize(joined.with_taps) == joined.count();
  return all ? "computed" : phase_taps_text({joined.phase.name, joined.with_taps}, "computed");
}

/// Where in shared memory the sums of a phase begin; empty for one without taps.
std::string sums_place(const JoinedPhases& joined, std::int64_t phase) {
  const auto found = std::ranges::find(joined.with_taps, phase);
  if (found == joined.with_taps.end()) return "";
  const auto turn = found - joined.with_taps.begin();
  if (turn + 1 == std::ssize(joined.with_taps)) return "0";
  return turn == 0 ? "first_waiting" : fmt::format("first_waiting + {} * waiting_floats", turn);
}

/// The same by the phase that `item` is; -1 for none.
std::string sums_of_phase(const JoinedPhases& joined) {
  std::string text;
  for (std::int64_t phase = 0; phase + 1 < joined.count(); ++phase) {
    const auto place = sums_place(joined, phase);
    text += fmt::format("item == {} ? {} : ", phase, place.empty() ? "-1" : place);
  }
  const auto last = sums_place(joined, joined.count() - 1);
  return broken_statement(text + (last.empty() ? "-1" : last), 80);
}

/// Pixels whose phases a lane has at most sixteen of: a power of two.
std::int64_t most_pixels(const JoinedPhases& joined) {
  constexpr std::int64_t k_lanes = 32, k_most_places = 16;
  std::int64_t pixels = k_lanes;
  while (2 * pixels * joined.count() <= k_lanes * k_most_places) pixels *= 2;
  return pixels;
}

std::string two_sums(const JoinedPhases& joined, std::int64_t phase) {
  const auto place = sums_place(joined, phase);
  if (place.empty()) return "make_float2(0.0f, 0.0f)";
  return fmt::format("*(const float2*)&tiles[{}sums_place]", place == "0" ? "" : place + " + ");
}

std::string stores_section(const char* name, const Fillings& fillings) {
  return fill_lines(kernel_text("program/patch_stores.cu", name), fillings);
}

void fill_places(KernelScope& scope, const Contraction& contraction, const PatchContraction& patch,
                 Fillings& fillings) {
  const auto address = address_of_line(contraction, patch);
  auto used = scope.used_axes();
  used.merge(axes_in(address));
  const auto around = joined_axes(joined_axes(contraction.batch, contraction.rows), patch.outer);
  auto axes = index_statements(scope, contraction.rows, "m", used);
  StageAxes lines;
  std::string line_axis;
  if (patch.line) {
    lines.push_back(patch.tile[0]);
    if (used.count(patch.line->axis) > 0) line_axis = fmt::format("const int {} = line;", scope.axis(patch.line->axis));
  }
  if (!line_axis.empty()) axes.push_back(line_axis);
  fillings.emplace_back("line_axis", line_axis);
  fillings.emplace_back("stored_axes", join_lines(axes));
  fillings.emplace_back("place", address_text(scope, address, joined_axes(around, lines), true));
  fillings.emplace_back("row_place", address_text(scope, address, around, true));
  fillings.emplace_back("pixel_place", address_text(scope, address, lines, false));
}

/// What becomes of a sum, and where it is stored.
void fill_results(KernelScope& scope, const Contraction& contraction, const PatchContraction& patch,
                  const KernelBuffer& out, Fillings& fillings) {
  const StageAxes batch(contraction.batch.begin(), contraction.batch.end() - 1);
  fillings.emplace_back("held_of_rows", held_of_rows(scope, contraction, patch, batch, fillings));
  const auto stored = stored_sum(scope, contraction, out, "total", "place");
  fill_places(scope, contraction, patch, fillings);
  fillings.emplace_back("row_count", scope.extent(extent_of(contraction.rows)));
  fillings.emplace_back("step", scope.axis(patch.across->axis));
  fillings.emplace_back("inside", stored.guard.empty() ? "true" : stored.guard);
  fillings.emplace_back("values", stored.values);
  fillings.emplace_back("value", stored.value);
  fillings.emplace_back("out", out.name);
  fillings.emplace_back("store", store_text(out.dtype, out.name, "place", "result", scope.dialect()));
  fillings.emplace_back("width", scope.extent(patch.tile.back().extent));
  fillings.emplace_back("height", patch.line ? scope.extent(patch.tile[0].extent) : "1");
}

}  // namespace

std::optional<JoinedPhases> joined_phases(const Contraction& contraction, const PatchContraction& patch) {
  if (!patch.across || contraction.batch.empty() || contraction.split.place.empty()) return std::nullopt;
  const auto& phase = contraction.batch.back();
  const bool counted = contraction.split.phases.count(phase.name) > 0 && phase.extent.is_constant() &&
                       phase.extent.value() > 1 && phase.extent.value() <= k_most_joined;
  if (!counted || !alternate(contraction, patch, phase) || guards_name_rows(contraction)) return std::nullopt;
  JoinedPhases joined{phase, {}};
  const auto phases = patch_phases(contraction, patch, true);
  for (std::int64_t i = 0; i < joined.count(); ++i) {
    const bool known = phases && phases->across.phase == phase.name;
    if (!known || phases->across.counts[static_cast<std::size_t>(i)] > 0) joined.with_taps.push_back(i);
  }
  return joined.with_taps.empty() ? std::nullopt : std::optional(joined);
}

void fill_joined_phases(KernelScope& scope, const Contraction& contraction, const PatchContraction& patch,
                        const JoinedPhases& joined, const KernelBuffer& out, Fillings& fillings) {
  fillings.emplace_back("phase", scope.axis(joined.phase.name));
  fillings.emplace_back("computed", std::to_string(joined.with_taps.size()));
  fillings.emplace_back("phase_of_turn", phase_of_turn(joined));
  auto own = fillings;
  fill_results(scope, contraction, patch, out, own);
  own.emplace_back("phases", std::to_string(joined.count()));
  own.emplace_back("most_pixels", std::to_string(most_pixels(joined)));
  own.emplace_back("sums_of_phase", sums_of_phase(joined));
  for (const auto* name : {"joined_line", "joined_inside", "joined_results"})
    own.emplace_back(name, stores_section(name, own));
  auto store_lines = stores_section("store_phases", own);
  if (joined.count() == 2 && out.dtype == DType::f32) {
    const auto length = scope.extent(contraction.split.output.back().extent);
    own.emplace_back("by_fours", fmt::format("{} % 4 == 0 && (unsigned long){} % 16 == 0", length, out.name));
    own.emplace_back("even", two_sums(joined, 0));
    own.emplace_back("odd", two_sums(joined, 1));
    own.emplace_back("store_two_phases", stores_section("store_two_phases", own));
    own.emplace_back("store_phases", store_lines);
    store_lines = stores_section("store_either", own);
  }
  own.emplace_back("store_lines", store_lines);
  fillings.emplace_back("stores", stores_section("store_joined", own));
}

}  // namespace kw
