// Tiles of contractions for GPUs.
#include <algorithm>
#include <cmath>

#include "operators/program/kernels/contract_shape.hpp"

namespace kw {
namespace {

double value_in(const IntBindings& assignment, std::string_view name, std::int64_t fallback) {
  const auto found = assignment.find(name);
  return static_cast<double>(found == assignment.end() ? fallback : found->second);
}

double simt_cost_of(const ContractSize& size, const DeviceFacts& device, const IntBindings& assignment) {
  const double tile_rows = value_in(assignment, "TILE_M", 64);
  const double tile_columns = value_in(assignment, "TILE_N", 64);
  const double tile_steps = value_in(assignment, "TILE_K", 16);
  const double thread_rows = value_in(assignment, "THREAD_M", 8);
  const double thread_columns = value_in(assignment, "THREAD_N", 4);
  const double parts = contract_splits(size, device) ? value_in(assignment, "SPLIT_K", 8) : 1.0;
  const double threads = tile_rows / thread_rows * tile_columns / thread_columns;
  const double tiles = size.batch * std::ceil(size.rows / tile_rows) * std::ceil(size.columns / tile_columns) * parts;
  // 128 multiply-adds per clock; a float4 from shared memory per warp takes four clocks of 32 lanes' banks, which
  // threads of a warp share in part; a float of a tile costs what its address and its guards do.
  const double sums = tile_rows * tile_columns;
  const double products = sums / 128.0 * (1.0 + 1.5 * (1.0 / thread_rows + 1.0 / thread_columns));
  const double loads = (tile_rows + tile_columns) * (size.guarded ? 1.0 : 0.25);
  const double step = products + loads + 40.0 / tile_steps;
  // An element on its way takes a register, and its address and guards some more (NVRTC 13.0, sm_80 and sm_90a).
  const double registers = thread_rows * thread_columns + 2.0 * (thread_rows + thread_columns) + 48.0 +
                           (size.guarded ? 8.0 : 4.0) * (tile_rows + tile_columns) * tile_steps / threads;
  constexpr double k_most_registers = 232.0;
  const double spilling = registers > k_most_registers ? registers / 32.0 : 1.0;
  const double resident =
      std::max(1.0, std::min(std::floor(65536.0 / (registers * threads)),
                             std::floor(160000.0 / (8.0 * tile_steps * (tile_rows + tile_columns + 8.0)))));
  const auto units = static_cast<double>(std::max<std::int64_t>(device.compute_units, 1));
  const double tiles_per_unit = std::ceil(tiles / units);
  // Fewer than eight warps leave the pipes waiting.
  const double warps = std::min(resident, tiles_per_unit) * threads / 32.0;
  const double waiting = std::max(1.0, 8.0 / warps);
  constexpr double k_tile = 1500.0;
  const double sum_of_parts = parts > 1.0 ? parts * size.batch * size.rows * size.columns * 4.0 / (units * 10.0) : 0.0;
  return tiles_per_unit *
             (std::ceil(size.steps / parts / tile_steps) * tile_steps * step * waiting * spilling + k_tile) +
         sum_of_parts;
}

std::vector<Tunable> simt_tiles() {
  return {{"TILE_M", {32, 64, 128, 256}, 64},
          {"TILE_N", {32, 64, 128, 256}, 64},
          {"TILE_K", {8, 16, 32}, 16},
          {"THREAD_M", {4, 8}, 8},
          {"THREAD_N", {4, 8}, 4}};
}

}  // namespace

bool contract_splits(const ContractSize& size, const DeviceFacts& device) {
  constexpr double k_least_steps = 512.0;
  constexpr double k_tile = 64.0;
  const double tiles = size.batch * std::ceil(size.rows / k_tile) * std::ceil(size.columns / k_tile);
  return 2.0 * tiles <= static_cast<double>(device.compute_units) && size.steps >= k_least_steps;
}

std::vector<Tunable> contract_simt_tunables(const std::vector<ContractSize>& sizes, const DeviceFacts& device) {
  std::vector<Tunable> tunables = simt_tiles();
  const bool splits =
      std::any_of(sizes.begin(), sizes.end(), [&](const ContractSize& size) { return contract_splits(size, device); });
  if (splits) tunables.push_back({"SPLIT_K", {2, 4, 8, 16, 32, 64}, 8});
  const auto best = cheapest_contracts(
      tunables, contract_simt_constraints(), device,
      [&](const IntBindings& one) { return contract_simt_cost(sizes, device, one); }, 1);
  KW_CHECK(!best.empty(), "no tile of a contraction fits {}", device.name);
  for (auto& tunable : tunables) tunable.default_value = best[0].at(tunable.name);
  return tunables;
}

std::vector<std::string> contract_simt_constraints() {
  const std::string threads = "(TILE_M / THREAD_M * (TILE_N / THREAD_N))";
  return {fmt::format("{0} >= 32 && {0} <= 1024", threads),
          fmt::format("TILE_M * TILE_K % (4 * {0}) == 0 && TILE_N * TILE_K % (4 * {0}) == 0", threads),
          "8 * TILE_K * (TILE_M + TILE_N + 8) <= min(49152, shared_bytes_per_block)",
          fmt::format("THREAD_M * THREAD_N + 2 * (THREAD_M + THREAD_N) + 2 * (TILE_M + TILE_N) * TILE_K / {0} + 48 <= "
                      "min(max_registers_per_thread, registers_per_block / {0})",
                      threads)};
}

double contract_simt_cost(const std::vector<ContractSize>& sizes, const DeviceFacts& device,
                          const IntBindings& assignment) {
  double cost = 0.0;
  for (const auto& size : sizes) cost += simt_cost_of(size, device, assignment);
  return cost;
}

}  // namespace kw
