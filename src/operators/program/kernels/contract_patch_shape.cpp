#include "operators/program/kernels/contract_patch_shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "operators/program/kernels/affine_index.hpp"
#include "operators/program/kernels/contract_joined_phases.hpp"
#include "operators/program/kernels/contract_phases.hpp"
#include "operators/program/kernels/contract_text.hpp"
#include "program/stages/work.hpp"

namespace kw {
namespace {

std::string group_places_text(const PatchSize& size) {
  const auto plane =
      fmt::format("((({} - 1) * {} + {}) / {} + 1)", tile_width_text(size), size.step, size.span, size.step);
  return fmt::format("(({} - 1) * {} + {}) * {} * {}", tile_lines_text(size), size.line_step, size.line_span + 1,
                     size.step, plane);
}

constexpr const char* k_patch_threads = "(TILE_M / THREAD_M * (TILE_N / THREAD_N))";

}  // namespace

int patch_other_registers(const PatchSize& size) {
  return size.halves ? 36 : 25;
}

namespace {

/// From a pixel of a tile's line to the next, in the output's line; 1 where lines of tiles are none of the output.
double stored_step(const Contraction& contraction, const PatchContraction& patch) {
  if (!patch.across || contraction.split.place.empty()) return 1.0;
  const auto last = affine_index(contraction.split.place.back(), contraction.split.phases);
  if (!last) return 1.0;
  const auto step = last->coefficients.find(patch.across->axis);
  return step == last->coefficients.end() ? 1.0 : static_cast<double>(step->second.value());
}

}  // namespace

PatchSize patch_size(const Contraction& contraction, const PatchContraction& patch) {
  PatchSize size;
  size.lined = patch.line.has_value();
  if (patch.line) {
    size.line_step = patch.line->step;
    size.line_span = patch.line->span();
    size.height = static_cast<double>(patch.tile[0].extent.value());
  }
  if (patch.across) {
    size.step = patch.across->step;
    size.span = patch.across->span();
  }
  size.width = count_of(patch.tile) / size.height;
  size.stored_length = patch.across ? static_cast<double>(contraction.split.output.back().extent.value()) : size.width;
  size.stored_step = stored_step(contraction, patch);
  size.taps = patch.taps();
  size.phases = !contraction.split.phases.empty();
  constexpr std::int64_t k_four = 4;
  if (const auto joined = joined_phases(contraction, patch)) {
    size.joined = joined->count();
    size.joined_sums = std::ssize(joined->with_taps);
  }
  size.in_fours = contraction.split.output.back().extent.value() % k_four == 0;
  size.batch = count_of(contraction.batch);
  size.rows = count_of(contraction.rows);
  size.outer = count_of(patch.outer);
  size.depth = static_cast<double>(patch.depth.extent.value());
  size.others = count_of(patch.others);
  const auto phases = patch_phases(contraction, patch, size.joined > 1);
  if (!phases) return size;
  const bool own_others = !phases->other.phase.empty();
  for (const auto line : phases->line.counts) {
    for (const auto across : phases->across.counts) {
      for (const auto other : phases->other.counts)
        size.of_phases.push_back(
            {static_cast<double>(line * across), own_others ? static_cast<double>(other) : size.others});
    }
  }
  return size;
}

void forget_joined(PatchSize& size) {
  size.joined = size.joined_sums = 1;
  const bool full = std::ranges::all_of(size.of_phases, [&](const PatchSize::OfPhase& one) {
    return one.taps == static_cast<double>(size.taps) && one.others == size.others;
  });
  if (full) size.of_phases.clear();
}

namespace {

/// As measured on an H200. Phases gained but in one dimension, and where the largest has one tap; of fewer than eight
/// channels, which a step of a phase's own tap has, they multiply more zeros. Two joined phases gained where lines
/// leave by 16 bytes and phases have few taps: not of filters of four with a stride of two; and where a phase has no
/// tap at all, as where taps lie two apart: its zeros leave with the other ones' outputs.
void choose_phases(PatchSize& size, WayUse phases, WayUse joined) {
  constexpr double k_step_channels = 8.0;
  bool fewer = false, empty = false;
  double most = 0.0;
  for (const auto& one : size.of_phases) {
    fewer = fewer || one.taps < static_cast<double>(size.taps) || one.others < size.others;
    empty = empty || one.taps == 0.0;
    most = std::max(most, one.taps);
  }
  const bool phases_gain = fewer && size.lined && most > 1.0 && size.depth >= k_step_channels;
  const bool joined_gain = (phases_gain && size.in_fours && size.joined == 2) || empty;
  if (joined == WayUse::never || (joined == WayUse::estimated && !joined_gain)) forget_joined(size);
  const bool own_taps = phases_gain || size.joined > 1;
  if (phases == WayUse::never || (phases == WayUse::estimated && !own_taps)) size.of_phases.clear();
}

/// As measured on an H100 and an H200: short sums of few taps took longer, and most where phases go through their own
/// taps; not where a phase has all taps or none.
bool halves_gain(const PatchSize& size, bool rounded) {
  constexpr double k_least_channels = 16.0, k_least_rounded_channels = 8.0, k_short_sum = 200.0;
  constexpr std::int64_t k_least_taps = 9, k_least_rounded_taps = 5;
  const bool all_or_none = std::ranges::all_of(size.of_phases, [&](const PatchSize::OfPhase& one) {
    return one.taps == 0.0 || one.taps == static_cast<double>(size.taps);
  });
  if (!all_or_none) return false;
  if (!rounded) return size.depth >= k_least_channels && size.taps >= k_least_taps;
  const bool is_short = size.depth * static_cast<double>(size.taps) * size.others < k_short_sum;
  return size.depth >= k_least_rounded_channels && (!is_short || size.taps >= k_least_rounded_taps);
}

}  // namespace

void choose_ways(PatchSize& size, bool rounded, ContractWays ways) {
  choose_phases(size, ways.phases, ways.joined);
  size.halves = ways.scaled == WayUse::always || (ways.scaled == WayUse::estimated && halves_gain(size, rounded));
}

std::string tile_lines_text(const PatchSize& size) {
  if (!size.lined) return "1";
  return size.wide ? "(THREAD_N / 2 + PATCH_WIDE * (TILE_N / (4 * THREAD_N) - THREAD_N / 2))" : "THREAD_N / 2";
}

std::string tile_width_text(const PatchSize& size) {
  if (!size.lined) return "TILE_N";
  constexpr const char* k_wide = "(2 * TILE_N / THREAD_N + PATCH_WIDE * (4 * THREAD_N - 2 * TILE_N / THREAD_N))";
  return size.wide ? k_wide : "2 * TILE_N / THREAD_N";
}

std::string patch_bytes_text(const PatchSize& size, bool rounded) {
  const int parts = rounded ? 1 : 2;
  // As section products_of_phases of patches.cu has them.
  const auto waiting = size.joined_sums - 1;
  return fmt::format("max({} * PATCH_K * ({}) + {} * TILE_M * PATCH_STEPS, {} * TILE_M * (TILE_N + 4)){}",
                     32 / patch_unit(size) * parts, group_places_text(size), 64 * parts, size.joined > 1 ? 4 : 2,
                     waiting > 0 ? fmt::format(" + {} * (TILE_M * (TILE_N + 4) + 8)", 4 * waiting) : "");
}

std::string packed_count_text(const PatchSize& size, const Extent& batch, const Extent& rows, const Extent& others,
                              const Extent& depth) {
  return fmt::format(
      "{0} * ceil_div({1}, TILE_M) * TILE_M * {2} * ceil_div({3}, PATCH_K) * {5} * PATCH_STEPS * ceil_div({4} * "
      "PATCH_K, "
      "{5} * PATCH_STEPS)",
      bundle_operand(batch), rows.text(), bundle_operand(others), depth.text(), size.taps, 2 * patch_unit(size));
}

std::vector<Tunable> patch_tunables(bool wide) {
  std::vector<Tunable> tunables = {{"TILE_M", {64, 128}, 64},      {"TILE_N", {64, 128, 256}, 128},
                                   {"THREAD_M", {2}, 2},           {"THREAD_N", {16, 32}, 32},
                                   {"PATCH_K", {4, 8, 16, 32}, 8}, {"PATCH_STEPS", {1, 2, 3, 4, 5, 6, 7, 9, 12}, 9}};
  if (wide) tunables.push_back({"PATCH_WIDE", {0, 1}, 0});
  return tunables;
}

/// Of a single four of channels two taps are a step, which must lie in the patch in their order: as they do unless
/// every few pixels are a plane of their own, or a phase has its own taps. An offset of a descriptor has no room for
/// 2^18 bytes. Of halves 128 bytes of shared memory are declared for the largest number.
std::vector<std::string> patch_constraints(const PatchSize& size, bool rounded, bool is_long) {
  const auto places = group_places_text(size);
  std::vector<std::string> constraints = {
      "TILE_N % (4 * THREAD_N) == 0",
      fmt::format("{0} >= 128 && {0} <= 512", k_patch_threads),
      fmt::format("{0} * PATCH_STEPS < {1} * PATCH_K + {0}", 2 * patch_unit(size), size.taps),
      fmt::format("{}{} <= shared_bytes_per_block", patch_bytes_text(size, rounded), size.halves ? " + 128" : ""),
      fmt::format("16 * ({}) < 262144", places),
      fmt::format("{0} * THREAD_N + {3} * ceil_div(PATCH_K / {4} * ({1}), {2}) + {5} <= min(max_registers_per_thread, "
                  "registers_per_block / {2})",
                  2 * patch_copies(size, rounded, is_long), places, k_patch_threads, patch_unit(size) + 1,
                  patch_unit(size), patch_other_registers(size))};
  const bool two_units = size.step > 1 || !size.of_phases.empty();
  if (two_units || size.halves)
    constraints.push_back(fmt::format("PATCH_K >= {}", (two_units ? 2 : 1) * patch_unit(size)));
  return constraints;
}

}  // namespace kw
