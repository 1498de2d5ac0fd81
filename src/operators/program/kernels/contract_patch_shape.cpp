#include "operators/program/kernels/contract_patch_shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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
  tile.lines = size.lined ? tile.group_columns / 8.0 : 1.0;
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

/// What a tile of a phase reads and writes of the second cache: few taps leave more of that than of products. Every
/// second float of a line takes as long as all.
double passed_bytes(const PatchTile& tile, const PatchTurns& turns, bool rounded) {
  constexpr double k_float = 4.0, k_step = 8.0;  // a step of sixteen halves is as many bytes
  const double filter = turns.steps * k_step * tile.rows * (rounded ? 1.0 : 2.0);
  const double patches = turns.patches * tile.chunk * tile.group_places;
  return k_float * (filter + patches + 2.0 * tile.rows * tile.columns);
}

/// What the parts of a tile take, in clocks of a unit. Fitted to what an H100 took for 2711 assignments of 136
/// convolutions (docs/results/2026-11-26-h100-schedules.md): the cheapest ones take 2.3 % longer in the geometric mean
/// than the fastest that were timed, of rounded factors 4.0 %.
struct PatchClocks {
  double rate;    ///< multiply-adds per clock
  double narrow;  ///< for how long instructions with 64 columns take, which read shared memory more
  /// Of each unit of channels that a thread loads, and of each pair of those that are on their way at the same time.
  double pixel, pair;
  double slice, tile;
  /// Of a sum, which nothing hides, with what a narrow tile's sectors cost: lines of eight floats begin anywhere, and
  /// write two sectors of memory where sixteen write three.
  double output, sector;
  double hidden_output;  ///< of a sum, behind other blocks
  double bytes;          ///< of the second cache per clock
  double largest;        ///< that halves look for between two barriers, of each patch
};

constexpr PatchClocks k_clocks_of_split = {1024.0 * 0.82, 1.22, 150.0, 8.5, 355.0, 5200.0, 0.25, 3.4, 0.19, 25.0, 0.0};
constexpr PatchClocks k_clocks_of_rounded = {1024.0 * 0.566, 1.52, 160.0, 30.0, 420.0, 4000.0,
                                             0.25,           6.0,  0.042, 19.4, 0.0};
/// Fitted to some 300 assignments of 31 convolutions each on an H100 (docs/results/2026-11-26-h100-scaled-halves.md):
/// the cheapest ones take 0.1 % longer in the geometric mean than the fastest that were timed, of rounded factors 4 %.
constexpr PatchClocks k_clocks_of_split_halves = {1470.0, 1.21, 481.0, 46.0, 548.0, 4340.0,
                                                  0.342,  0.0,  0.231, 25.0, 55.0};
constexpr PatchClocks k_clocks_of_rounded_halves = {1070.0, 1.27, 270.0, 41.4, 588.0, 5860.0,
                                                    0.24,   3.67, 0.113, 19.4, 414.0};

PatchClocks clocks_of(const PatchSize& size, bool rounded) {
  if (size.halves) return rounded ? k_clocks_of_rounded_halves : k_clocks_of_split_halves;
  return rounded ? k_clocks_of_rounded : k_clocks_of_split;
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
  return size.lined ? "THREAD_N / 2" : "1";
}

std::string tile_width_text(const PatchSize& size) {
  return size.lined ? "2 * TILE_N / THREAD_N" : "TILE_N";
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

std::vector<Tunable> patch_tunables() {
  return {{"TILE_M", {64, 128}, 64},      {"TILE_N", {64, 128, 256}, 128},
          {"THREAD_M", {2}, 2},           {"THREAD_N", {16, 32}, 32},
          {"PATCH_K", {4, 8, 16, 32}, 8}, {"PATCH_STEPS", {1, 2, 3, 4, 5, 6, 7, 9, 12}, 9}};
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

double patch_cost(const PatchSize& size, bool rounded, bool is_long, const DeviceFacts& device,
                  const IntBindings& assignment) {
  const PatchClocks clocks = clocks_of(size, rounded);
  const auto tile = patch_tile_of(size, assignment);
  const double thread_columns = tile.group_columns / 4.0;
  const double units = static_cast<double>(std::max<std::int64_t>(device.compute_units, 1));
  const double tiles = size.batch * size.outer * std::ceil(size.rows / tile.rows) * std::ceil(size.width / tile.width) *
                       std::ceil(size.height / tile.lines);
  const double tiles_per_unit = std::max(1.0, tiles / units);
  const auto turns = patch_turns(size, tile);
  const double steps = turns.steps * 2.0 * patch_unit(size);
  const double products = tile.rows * tile.columns * steps * (rounded ? 1.0 : 3.0) / clocks.rate *
                          (tile.group_columns < 128.0 ? clocks.narrow : 1.0);
  const double pixels = tile.chunk / patch_unit(size) * tile.group_places / tile.threads;
  const double sums = tile.rows * tile.columns;
  const double outputs = clocks.output * sums * (1.0 + clocks.sector / tile.width);
  const double others = turns.patches * (pixels * (clocks.pixel + clocks.pair * pixels) + clocks.largest) +
                        clocks.slice * turns.slices + clocks.tile + clocks.hidden_output * sums;
  const double resident =
      std::min(resident_patches(size, tile, thread_columns, rounded, is_long), std::ceil(tiles_per_unit));
  const double passed = size.of_phases.empty() ? 0.0 : passed_bytes(tile, turns, rounded) / clocks.bytes;
  return tiles_per_unit * (std::max(products + outputs, passed) + others / resident);
}

}  // namespace kw
