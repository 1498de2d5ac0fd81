#include "operators/program/kernels/contract_shape.hpp"

#include <cmath>

#include "hardware/vector_registers.hpp"
#include "program/stages/work.hpp"

namespace kw {
namespace {

struct VectorTile {
  std::int64_t rows = 4, vectors = 4;
};

/// Measured on Zen 4 (2-core AVX-512, 2026-11): 4 x 4 reaches 91 % of the multiply-add peak in a product of 1024
/// cubed, 6 x 4 88 %, 12 x 2 84 %.
VectorTile best_tile_of(const DeviceFacts& device) {
  const VectorRegisters registers = vector_registers(device);
  if (registers.per_float16 == 1) return {4, 4};
  if (registers.per_float16 == 2) return {6, 1};
  return {2, 1};
}

struct SimtTile {
  std::int64_t rows = 128, columns = 128, steps = 8, thread_rows = 8, thread_columns = 8;
};

double tiles_of(const Contraction& contraction, const SimtTile& tile) {
  return count_of(contraction.batch) * std::ceil(count_of(contraction.rows) / static_cast<double>(tile.rows)) *
         std::ceil(count_of(contraction.columns) / static_cast<double>(tile.columns));
}

/// The largest tile of which there are enough for every unit, and that is not mostly empty.
SimtTile best_simt_tile(const Contraction& contraction, const DeviceFacts& device) {
  const std::vector<SimtTile> tiles = {{128, 128, 8, 8, 8}, {128, 64, 8, 8, 8}, {64, 128, 8, 8, 8},
                                       {64, 64, 16, 8, 4},  {64, 32, 16, 4, 4}, {32, 64, 16, 4, 4},
                                       {32, 32, 16, 4, 4}};
  const double work = count_of(contraction.batch) * count_of(contraction.rows) * count_of(contraction.columns);
  for (const auto& tile : tiles) {
    const double computed = tiles_of(contraction, tile) * static_cast<double>(tile.rows * tile.columns);
    const bool enough = tiles_of(contraction, tile) >= static_cast<double>(device.compute_units);
    if (enough && computed <= 1.3 * work) return tile;
  }
  return tiles.back();
}

}  // namespace

bool contract_splits(const Contraction& contraction, const DeviceFacts& device) {
  constexpr double k_least_steps = 512.0;
  const auto tile = best_simt_tile(contraction, device);
  return 2.0 * tiles_of(contraction, tile) <= static_cast<double>(device.compute_units) &&
         count_of(contraction.inner) >= k_least_steps;
}

std::vector<Tunable> contract_simt_tunables(const Contraction& contraction, const DeviceFacts& device) {
  const auto tile = best_simt_tile(contraction, device);
  std::vector<Tunable> tunables = {{"TILE_M", {32, 64, 128, 256}, tile.rows},
                                   {"TILE_N", {32, 64, 128, 256}, tile.columns},
                                   {"TILE_K", {8, 16, 32}, tile.steps},
                                   {"THREAD_M", {4, 8}, tile.thread_rows},
                                   {"THREAD_N", {4, 8}, tile.thread_columns}};
  if (contract_splits(contraction, device)) {
    std::int64_t parts = 2;
    while (parts < 32 && static_cast<double>(parts) * tiles_of(contraction, tile) <
                             static_cast<double>(device.compute_units)) {
      parts *= 2;
    }
    tunables.push_back({"SPLIT_K", {2, 4, 8, 16, 32}, parts});
  }
  return tunables;
}

std::vector<std::string> contract_simt_constraints() {
  const std::string threads = "(TILE_M / THREAD_M * (TILE_N / THREAD_N))";
  return {fmt::format("{0} >= 32 && {0} <= 1024", threads),
          fmt::format("TILE_M * TILE_K % (4 * {0}) == 0 && TILE_N * TILE_K % (4 * {0}) == 0", threads),
          "8 * TILE_K * (TILE_M + TILE_N + 8) <= min(49152, shared_bytes_per_block)",
          fmt::format("THREAD_M * THREAD_N + 2 * (THREAD_M + THREAD_N) + (TILE_M + TILE_N) * TILE_K / {0} + 48 <= "
                      "min(max_registers_per_thread, registers_per_block / {0})",
                      threads)};
}

std::vector<Tunable> contract_vector_tunables(const DeviceFacts& device) {
  const VectorTile tile = best_tile_of(device);
  return {{"TILE_ROWS", {1, 2, 3, 4, 5, 6, 8, 10, 12}, tile.rows},
          {"TILE_VECTORS", {1, 2, 3, 4, 6}, tile.vectors},
          {"ROW_TILES", {1, 2, 4, 8, 12, 16}, 8},
          {"BLOCK_K", {64, 128, 192, 256, 384, 512}, 256}};
}

std::vector<std::string> contract_vector_constraints(const DeviceFacts& device) {
  const VectorRegisters registers = vector_registers(device);
  const std::string width = registers.per_float16 == 1 ? "" : fmt::format(" * {}", registers.per_float16);
  return {fmt::format("(TILE_ROWS + 1) * TILE_VECTORS{} + 1 <= {}", width, registers.count),
          "TILE_ROWS * ROW_TILES * TILE_VECTORS <= 512"};
}

}  // namespace kw
