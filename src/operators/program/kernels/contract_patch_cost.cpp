// What a product of a filter and patches is estimated to take.
#include <algorithm>
#include <cmath>

#include "operators/program/kernels/contract_patch_shape.hpp"

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

/// As kernels/program/patches.cu asks for, and as shared memory allows.
double resident_patches(const PatchSize& size, const PatchTile& tile, double thread_columns, bool rounded,
                        bool is_long) {
  constexpr double k_registers = 65536.0;
  constexpr double k_shared = 232448.0, k_block_bytes = 1024.0, k_place_bytes = 16.0;
  const double unit = patch_unit(size);
  const double loads = std::ceil(tile.chunk / unit * tile.group_places / tile.threads);
  const double used =
      2.0 * patch_copies(size, rounded, is_long) * thread_columns + (unit + 1.0) * loads + patch_other_registers(size);
  constexpr double k_granularity = 8.0;
  const double registers = k_granularity * std::ceil(used / k_granularity);
  const double parts = rounded ? 1.0 : 2.0;
  const double loop =
      2.0 * parts * k_place_bytes * (tile.chunk / unit * tile.group_places + 2.0 * tile.slice_steps * tile.rows);
  const double sums = (size.joined > 1 ? 4.0 : 2.0) * tile.rows * (tile.columns + 4.0);
  const double waiting = static_cast<double>(size.joined_sums - 1) * sums;
  const double shared = std::max(loop, sums) + waiting + k_block_bytes;
  return std::max(1.0, std::floor(std::min(k_registers / (registers * tile.threads), k_shared / shared)));
}

/// Sectors of the second cache, of eight floats, that a tile writes some floats of: where they end and begin, as lines
/// of outputs lie anywhere among them; all of them where pixels lie apart.
double partial_sectors(const PatchSize& size, const PatchTile& tile) {
  constexpr double k_sector = 8.0,
                   k_ends = 1.75;  // most of the eight places where a line may begin are within a sector
  if (size.stored_step > 1.0 && size.joined == 1)
    return tile.rows * tile.lines * (tile.width * size.stored_step / k_sector + k_ends / 2.0);
  if (std::fmod(size.stored_length, k_sector) == 0.0) return 0.0;
  // Whole lines follow one another.
  const bool whole = tile.width * size.stored_step >= size.stored_length;
  return tile.rows * k_ends * (whole ? 1.0 : tile.lines);
}

/// What the parts of a tile take, in clocks of a unit, and what memory takes besides. Fitted to what an H100 took for
/// 2526 assignments of 72 convolutions (docs/results/2026-11-26-h100-stores.md): the cheapest ones take 1.4 % longer in
/// the geometric mean than the fastest that were timed. Halves to what an H200 took for 884 assignments of 53
/// (docs/results/2026-11-30-h200-fewer-instructions.md): rounded 3.0 %, split 0.0 %.
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
constexpr PatchClocks k_clocks_of_split_halves = {1956.0, 1.12, 218.0, 29.6, 844.0, 1790.0, 12.2,
                                                  0.988,  0.34, 0.544, 41.7, 28.8,  0.094,  15.9};
constexpr PatchClocks k_clocks_of_rounded_halves = {1850.0, 1.70,  98.1,   81.8, 955.0, 3520.0, 23.3,
                                                    6.87,   0.298, 0.0282, 44.7, 40.0,  0.397,  13.9};

PatchClocks clocks_of(const PatchSize& size, bool rounded) {
  if (size.halves) return rounded ? k_clocks_of_rounded_halves : k_clocks_of_split_halves;
  return rounded ? k_clocks_of_rounded : k_clocks_of_split;
}

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

/// How well one of computing and memory hides behind the other. Tiles of few patches, as wide as a sector, store for as
/// long as they compute where two of them write each sector. In 1-54 of KernelBench, strict, what takes 0.91 and 0.86
/// ms by itself took 1.48 on an H100.
double hiding_power(const PatchSize& size, const PatchTile& tile, bool rounded) {
  constexpr double k_few = 4.0, k_sector = 8.0, k_badly = 2.25;
  const bool narrow = tile.width <= k_sector && size.stored_step == 1.0 && partial_sectors(size, tile) > 0.0;
  const bool few = patch_turns(size, tile).patches <= k_few;
  return !rounded && narrow && few ? k_badly : k_hiding_power;
}

}  // namespace

double with_memory(double computing, double memory, double power) {
  return std::pow(std::pow(computing, power) + std::pow(memory, power), 1.0 / power);
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
                     tiles * memory_clocks(size, tile, clocks), hiding_power(size, tile, rounded));
}

}  // namespace kw
