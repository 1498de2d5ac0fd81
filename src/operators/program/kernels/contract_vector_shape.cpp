// Tiles of contractions for CPUs.
#include <algorithm>
#include <cmath>

#include "hardware/vector_registers.hpp"
#include "operators/program/kernels/contract_shape.hpp"

namespace kw {
namespace {

constexpr double k_lanes_of_tile = 16.0;

/// One step of a tile's sums: each of `rows` broadcasts meets each of `vectors`, which are `width` registers each. Two
/// load ports, and a multiply-add port of sixteen floats or two of fewer; the latency of a multiply-add is 4.
double step_cycles(double rows, double vectors, double width) {
  const double ports = width > 1.0 ? 2.0 : 1.0;
  return std::max({rows * vectors * width / ports, (vectors * width + rows) / 2.0, 4.0}) + 0.25;
}

/// What a step takes longer where a block of a panel comes from the second cache for each tile. Measured on two cores
/// of Zen 3 (32 KiB, AVX2), a product of 1024 cubed: tiles of 6 x 1 16.2 ms, 5 x 1 16.0, 4 x 1 17.2, and 2 x 2, whose
/// block is as large as the cache, 19.0.
double second_cache_cycles(double vectors, double width, double block, const DeviceFacts& device) {
  const double bytes = block * k_lanes_of_tile * vectors * 4.0;
  const bool fits = bytes <= 0.75 * static_cast<double>(device.l1_cache_bytes);
  return fits || width <= 1.0 || device.l1_cache_bytes == 0 ? 0.0 : vectors * width / 4.0;
}

double vector_cost_of(const ContractSize& size, const DeviceFacts& device, const IntBindings& assignment) {
  const auto width = static_cast<double>(vector_registers(device).per_float16);
  const auto rows = static_cast<double>(assignment.at("TILE_ROWS"));
  const auto vectors = static_cast<double>(assignment.at("TILE_VECTORS"));
  const auto tiles = static_cast<double>(assignment.at("ROW_TILES"));
  const auto block = static_cast<double>(assignment.at("BLOCK_K"));
  const double panels = std::ceil(size.columns / (k_lanes_of_tile * vectors));
  const double row_tiles = std::ceil(size.rows / rows);
  const double cycles = step_cycles(rows, vectors, width) + second_cache_cycles(vectors, width, block, device);
  const double products = size.batch * row_tiles * panels * size.steps * cycles;
  // Each block of steps ends with a tile's sums being added to the total in memory.
  const double sums = products / block * 3.0;
  // The rows of a work-group share what is read of a panel.
  const double panel_reads = size.batch * panels * size.steps * vectors * width * (row_tiles / tiles) / 4.0;
  const double packing = size.batch * panels * size.steps * vectors * width * 4.0;
  const double spills =
      block * k_lanes_of_tile * vectors * 4.0 > static_cast<double>(device.l2_cache_bytes) / 2.0 ? products * 0.2 : 0.0;
  const double groups = size.batch * panels * std::ceil(row_tiles / tiles);
  const auto units = static_cast<double>(std::max<std::int64_t>(device.compute_units, 1));
  const double idle = std::ceil(groups / units) * units / groups;
  constexpr double k_group = 2000.0;
  // Measured on two cores with AVX-512 (2026-11), a product of 1024 cubed in shares of the multiply-add peak: 4 x 4
  // 91 %, 6 x 4 88 %, 8 x 3 89 %, 12 x 2 84 %.
  const double uneven = width > 1.0 ? 1.0 : 1.0 + 0.01 * std::abs(rows - vectors);
  return (products * uneven + sums + spills) * idle + panel_reads + packing + groups * k_group;
}

}  // namespace

std::vector<Tunable> contract_vector_tunables(const std::vector<ContractSize>& sizes, const DeviceFacts& device) {
  std::vector<Tunable> tunables = {{"TILE_ROWS", {1, 2, 3, 4, 5, 6, 8, 10, 12}, 4},
                                   {"TILE_VECTORS", {1, 2, 3, 4, 6}, 4},
                                   {"ROW_TILES", {1, 2, 4, 8, 12, 16}, 8},
                                   {"BLOCK_K", {64, 128, 192, 256, 384, 512}, 256}};
  auto usual = tunables;
  usual[0].values = {1, 2, 3, 4, 5, 6};
  usual[2].values = {1, 2, 4, 8};
  usual[3].values = {256};
  const auto best = cheapest_contracts(
      usual, contract_vector_constraints(device), device,
      [&](const IntBindings& one) { return contract_vector_cost(sizes, device, one); }, 1);
  KW_CHECK(!best.empty(), "no tile of a contraction fits {}", device.name);
  for (auto& tunable : tunables) tunable.default_value = best[0].at(tunable.name);
  return tunables;
}

std::vector<std::string> contract_vector_constraints(const DeviceFacts& device) {
  const VectorRegisters registers = vector_registers(device);
  const std::string width = registers.per_float16 == 1 ? "" : fmt::format(" * {}", registers.per_float16);
  return {fmt::format("(TILE_ROWS + 1) * TILE_VECTORS{} + 1 <= {}", width, registers.count),
          "TILE_ROWS * ROW_TILES * TILE_VECTORS <= 512"};
}

double contract_vector_cost(const std::vector<ContractSize>& sizes, const DeviceFacts& device,
                            const IntBindings& assignment) {
  double cost = 0.0;
  for (const auto& size : sizes) cost += vector_cost_of(size, device, assignment);
  return cost;
}

}  // namespace kw
