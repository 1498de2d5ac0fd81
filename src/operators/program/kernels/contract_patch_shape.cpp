#include "operators/program/kernels/contract_patch_shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "operators/program/kernels/affine_index.hpp"
#include "operators/program/kernels/contract_pairs.hpp"
#include "operators/program/kernels/contract_phases.hpp"
#include "operators/program/kernels/contract_text.hpp"
#include "program/stages/work.hpp"

namespace kw {
namespace {

/// What an assignment makes of a patch and a slice of the filter.
struct PatchTile {
  double rows, columns, group_columns, chunk, slice_steps;
  double lines, width;
  double threads;
  double group_places;  ///< of a patch, for four channels
};

/// What a tile goes through of patches, slices of the filter and steps: on average of the phases.
struct PatchTurns {
  double patches = 0, slices = 0, steps = 0;
};

PatchTurns patch_turns(const PatchSize& size, const PatchTile& tile) {
  const auto whole = PatchSize::OfPhase{static_cast<double>(size.taps), size.others};
  const auto phases = size.of_phases.empty() ? std::vector{whole} : size.of_phases;
  PatchTurns turns;
  for (const auto& phase : phases) {
    if (phase.taps == 0.0) continue;
    const double patches = std::ceil(size.depth / tile.chunk) * phase.others / static_cast<double>(phases.size());
    const double steps = std::ceil(phase.taps * tile.chunk / (2.0 * patch_unit(size)));
    const double slices = std::ceil(steps / tile.slice_steps);
    turns.patches += patches;
    turns.slices += patches * slices;
    turns.steps += patches * (size.of_phases.empty() ? slices * tile.slice_steps : steps);
  }
  return turns;
}

PatchTile patch_tile_of(const PatchSize& size, const IntBindings& assignment) {
  const auto value = [&](const char* name) { return static_cast<double>(assignment.at(name)); };
  PatchTile tile{};
  tile.rows = value("TILE_M");
  tile.columns = value("TILE_N");
  tile.group_columns = 4.0 * value("THREAD_N");
  tile.chunk = value("PATCH_K");
  tile.slice_steps = value("PATCH_STEPS");
  const bool wide = size.wide && assignment.at("PATCH_WIDE") == 1;
  tile.lines = !size.lined ? 1.0 : wide ? tile.columns / tile.group_columns : tile.group_columns / 8.0;
  tile.width = tile.columns / tile.lines;
  tile.threads = tile.rows / 2.0 * tile.columns / value("THREAD_N");
  const auto step = static_cast<double>(size.step);
  const double plane = std::floor(((tile.width - 1.0) * step + static_cast<double>(size.span)) / step) + 1.0;
  tile.group_places =
      ((tile.lines - 1.0) * static_cast<double>(size.line_step) + static_cast<double>(size.line_span) + 1.0) * step *
      plane;
  return tile;
}

std::string group_places_text(const PatchSize& size) {
  const auto plane =
      fmt::format("((({} - 1) * {} + {}) / {} + 1)", tile_width_text(size), size.step, size.span, size.step);
  return fmt::format("(({} - 1) * {} + {}) * {} * {}", tile_lines_text(size), size.line_step, size.line_span + 1,
                     size.step, plane);
}

constexpr const char* k_patch_threads = "(TILE_M / THREAD_M * (TILE_N / THREAD_N))";

/// Of a thread, besides sums and what it loads: PATCH_REGISTERS of kernels/program/patches.cu, and exponents of halves.
int other_registers(const PatchSize& size) {
  return size.halves ? 39 : 25;
}

/// As kernels/program/patches.cu asks for, and as shared memory allows.
double resident_patches(const PatchSize& size, const PatchTile& tile, double thread_columns, bool rounded,
                        bool is_long) {
  constexpr double k_registers = 65536.0;
  constexpr double k_shared = 232448.0, k_block_bytes = 1024.0, k_place_bytes = 16.0;
  const double unit = patch_unit(size);
  const double loads = std::ceil(tile.chunk / unit * tile.group_places / tile.threads);
  const double registers =
      2.0 * patch_copies(size, rounded, is_long) * thread_columns + (unit + 1.0) * loads + other_registers(size);
  const double parts = rounded ? 1.0 : 2.0;
  const double loop =
      2.0 * parts * k_place_bytes * (tile.chunk / unit * tile.group_places + 2.0 * tile.slice_steps * tile.rows);
  const double sums = (size.pairs ? 4.0 : 2.0) * tile.rows * (tile.columns + 4.0);
  const double shared = std::max(loop, sums) + (size.pairs ? sums : 0.0) + k_block_bytes;
  return std::max(1.0, std::floor(std::min(k_registers / (registers * tile.threads), k_shared / shared)));
}

/// Sectors of the second cache, of eight floats, that a tile writes some floats of: where they end and begin, as lines
/// of outputs lie anywhere among them; all of them where pixels lie apart.
double partial_sectors(const PatchSize& size, const PatchTile& tile) {
  constexpr double k_sector = 8.0,
                   k_ends = 1.75;  // most of the eight places where a line may begin are within a sector
  if (size.stored_step > 1.0 && !size.pairs)
    return tile.rows * tile.lines * (tile.width * size.stored_step / k_sector + k_ends / 2.0);
  if (std::fmod(size.stored_length, k_sector) == 0.0) return 0.0;
  // Whole lines follow one another.
  const bool whole = tile.width * size.stored_step >= size.stored_length;
  return tile.rows * k_ends * (whole ? 1.0 : tile.lines);
}

/// What the parts of a tile take, in clocks of a unit, and what memory takes besides. Fitted to what an H100 took for
/// 1962 assignments of 72 convolutions (docs/results/2026-11-26-h100-stores.md): the cheapest ones take 1.5 % longer in
/// the geometric mean than the fastest that were timed.
struct PatchClocks {
  double rate;    ///< multiply-adds per clock
  double narrow;  ///< for how long instructions with 64 columns take, which read shared memory more
  /// Of each unit of channels that a thread loads, and of each pair of those that are on their way at the same time.
  double pixel, pair;
  double slice, tile;
  /// Of a step, for the places of its units; of a single unit of channels times as many, since taps take turns in it.
  double step, single;
  double output;         ///< of a sum, which nothing hides
  double hidden_output;  ///< of a sum, behind other blocks
  double largest;        ///< that halves look for between two barriers, of each patch
  double sector;         ///< of which a part is written: as many bytes more
  double input;          ///< of the bytes of patches, those that pass the memory
  double bytes;          ///< per clock
};

constexpr PatchClocks k_clocks_of_split = {1020.0, 1.26,   285.0, 9.51, 368.0, 3900.0, 68.2,
                                           1.0,    0.0755, 0.242, 0.0,  30.0,  0.1,    14.0};
constexpr PatchClocks k_clocks_of_rounded = {1020.0, 1.22,  120.0,  24.0, 484.0, 3380.0, 51.3,
                                             4.2,    0.308, 0.0563, 0.0,  30.0,  0.1,    14.0};
constexpr PatchClocks k_clocks_of_split_halves = {1790.0, 1.23,  515.0, 44.6, 650.0, 1770.0, 12.1,
                                                  1.0,    0.419, 0.144, 43.0, 30.0,  0.1,    14.0};
constexpr PatchClocks k_clocks_of_rounded_halves = {1430.0, 1.56,  341.0,  38.8,  600.0, 3600.0, 18.4,
                                                    4.44,   0.292, 0.0341, 119.0, 30.0,  0.486,  14.0};

PatchClocks clocks_of(const PatchSize& size, bool rounded) {
  if (size.halves) return rounded ? k_clocks_of_rounded_halves : k_clocks_of_split_halves;
  return rounded ? k_clocks_of_rounded : k_clocks_of_split;
}

}  // namespace

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
  size.pairs = paired_phase(contraction, patch).has_value();
  size.in_fours = contraction.split.output.back().extent.value() % k_four == 0;
  size.batch = count_of(contraction.batch);
  size.rows = count_of(contraction.rows);
  size.outer = count_of(patch.outer);
  size.depth = static_cast<double>(patch.depth.extent.value());
  size.others = count_of(patch.others);
  const auto phases = patch_phases(contraction, patch, size.pairs);
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

void forget_pairs(PatchSize& size) {
  size.pairs = false;
  const bool full = std::ranges::all_of(size.of_phases, [&](const PatchSize::OfPhase& one) {
    return one.taps == static_cast<double>(size.taps) && one.others == size.others;
  });
  if (full) size.of_phases.clear();
}

namespace {

/// As measured on an H200. Phases gained but in one dimension, and where the largest has one tap; of fewer than eight
/// channels, which a step of a phase's own tap has, they multiply more zeros. Pairs gained where lines leave by 16
/// bytes and phases have few taps: not of filters of four with a stride of two.
void choose_phases(PatchSize& size, WayUse phases, WayUse pairs) {
  constexpr double k_step_channels = 8.0;
  bool fewer = false;
  double most = 0.0;
  for (const auto& one : size.of_phases) {
    fewer = fewer || one.taps < static_cast<double>(size.taps) || one.others < size.others;
    most = std::max(most, one.taps);
  }
  const bool phases_gain = fewer && size.lined && most > 1.0 && size.depth >= k_step_channels;
  const bool pairs_gain = phases_gain && size.in_fours;
  if (pairs == WayUse::never || (pairs == WayUse::estimated && !pairs_gain)) forget_pairs(size);
  if (phases == WayUse::never || (phases == WayUse::estimated && !phases_gain && !size.pairs)) size.of_phases.clear();
}

}  // namespace

void choose_ways(PatchSize& size, ContractWays ways) {
  choose_phases(size, ways.phases, ways.pairs);
  // As measured on an H100: with eight channels or four taps, or where phases go through their own taps, most took
  // longer.
  constexpr double k_least_channels = 16.0;
  constexpr std::int64_t k_least_taps = 9;
  const bool gain = size.depth >= k_least_channels && size.taps >= k_least_taps && size.of_phases.empty();
  size.halves = ways.scaled == WayUse::always || (ways.scaled == WayUse::estimated && gain);
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
  return fmt::format("max({} * PATCH_K * ({}) + {} * TILE_M * PATCH_STEPS, {} * TILE_M * (TILE_N + 4)){}",
                     32 / patch_unit(size) * parts, group_places_text(size), 64 * parts, size.pairs ? 4 : 2,
                     size.pairs ? " + 4 * TILE_M * (TILE_N + 4)" : "");
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
/// 2^18 bytes.
std::vector<std::string> patch_constraints(const PatchSize& size, bool rounded, bool is_long) {
  const auto places = group_places_text(size);
  std::vector<std::string> constraints = {
      "TILE_N % (4 * THREAD_N) == 0",
      fmt::format("{0} >= 128 && {0} <= 512", k_patch_threads),
      fmt::format("{0} * PATCH_STEPS < {1} * PATCH_K + {0}", 2 * patch_unit(size), size.taps),
      fmt::format("{} <= shared_bytes_per_block", patch_bytes_text(size, rounded)),
      fmt::format("16 * ({}) < 262144", places),
      fmt::format("{0} * THREAD_N + {3} * ceil_div(PATCH_K / {4} * ({1}), {2}) + {5} <= min(max_registers_per_thread, "
                  "registers_per_block / {2})",
                  2 * patch_copies(size, rounded, is_long), places, k_patch_threads, patch_unit(size) + 1,
                  patch_unit(size), other_registers(size))};
  const bool two_units = size.step > 1 || !size.of_phases.empty();
  if (two_units || size.halves)
    constraints.push_back(fmt::format("PATCH_K >= {}", (two_units ? 2 : 1) * patch_unit(size)));
  return constraints;
}

namespace {

double tiles_per_unit_of(const PatchSize& size, const PatchTile& tile, const DeviceFacts& device) {
  const double units = static_cast<double>(std::max<std::int64_t>(device.compute_units, 1));
  const double tiles = size.batch * size.outer * std::ceil(size.rows / tile.rows) * std::ceil(size.width / tile.width) *
                       std::ceil(size.height / tile.lines);
  return std::max(1.0, tiles / units);
}

/// Of a tile, without what memory takes.
double computing_clocks(const PatchSize& size, const PatchTile& tile, const PatchClocks& clocks, bool rounded,
                        double resident) {
  const auto turns = patch_turns(size, tile);
  const double steps = turns.steps * 2.0 * patch_unit(size);
  const double products = tile.rows * tile.columns * steps * (rounded ? 1.0 : 3.0) / clocks.rate *
                          (tile.group_columns < 128.0 ? clocks.narrow : 1.0);
  const double pixels = tile.chunk / patch_unit(size) * tile.group_places / tile.threads;
  const double sums = tile.rows * tile.columns;
  const bool one_unit = tile.chunk == patch_unit(size);
  const double others = turns.patches * (pixels * (clocks.pixel + clocks.pair * pixels) + clocks.largest) +
                        clocks.slice * turns.slices + clocks.step * turns.steps * (one_unit ? clocks.single : 1.0) +
                        clocks.tile + clocks.hidden_output * sums;
  return products + clocks.output * sums + others / resident;
}

/// Of a tile: its outputs, what lies beside them in sectors, and some of its patches.
double memory_clocks(const PatchSize& size, const PatchTile& tile, const PatchClocks& clocks) {
  constexpr double k_float = 4.0;
  const double patches = patch_turns(size, tile).patches * tile.chunk * tile.group_places;
  return (k_float * (tile.rows * tile.columns + clocks.input * patches) + clocks.sector * partial_sectors(size, tile)) /
         clocks.bytes;
}

}  // namespace

double with_memory(double computing, double memory) {
  constexpr double k_power = 4.0;
  return std::pow(std::pow(computing, k_power) + std::pow(memory, k_power), 1.0 / k_power);
}

double patch_memory(const PatchSize& size, bool rounded, const DeviceFacts& device, const IntBindings& assignment) {
  const auto tile = patch_tile_of(size, assignment);
  return tiles_per_unit_of(size, tile, device) * memory_clocks(size, tile, clocks_of(size, rounded));
}

double patch_cost(const PatchSize& size, bool rounded, bool is_long, const DeviceFacts& device,
                  const IntBindings& assignment) {
  const PatchClocks clocks = clocks_of(size, rounded);
  const auto tile = patch_tile_of(size, assignment);
  const double tiles = tiles_per_unit_of(size, tile, device);
  const double resident =
      std::min(resident_patches(size, tile, tile.group_columns / 4.0, rounded, is_long), std::ceil(tiles));
  return with_memory(tiles * computing_clocks(size, tile, clocks, rounded, resident),
                     tiles * memory_clocks(size, tile, clocks));
}

}  // namespace kw
