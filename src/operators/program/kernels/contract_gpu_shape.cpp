// Tiles of contractions for GPUs.
#include <algorithm>
#include <cmath>

#include "hardware/gpu_arch.hpp"
#include "operators/program/kernels/contract_shape.hpp"

namespace kw {
namespace {

/// Multiply-adds per clock of a unit: of 128 lanes, and as three products of tf32 with the splitting.
constexpr double k_simt_rate = 128.0;
constexpr double k_tf32_rate = 280.0;

double value_in(const IntBindings& assignment, std::string_view name, std::int64_t fallback) {
  const auto found = assignment.find(name);
  return static_cast<double>(found == assignment.end() ? fallback : found->second);
}

double gpu_cost_of(const ContractSize& size, TileProducts how, const DeviceFacts& device,
                   const IntBindings& assignment) {
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
  const double rate = how == TileProducts::tf32 ? k_tf32_rate : k_simt_rate;
  const double products = sums / rate * (1.0 + 1.5 * (1.0 / thread_rows + 1.0 / thread_columns));
  const double loads = (tile_rows + tile_columns) * (size.guarded ? 0.5 : 0.25);
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

/// An instruction's lanes have 32 columns among them.
std::vector<Tunable> gpu_tiles(TileProducts how) {
  const std::vector<std::int64_t> thread_columns =
      how == TileProducts::tf32 ? std::vector<std::int64_t>{8} : std::vector<std::int64_t>{4, 8};
  return {{"TILE_M", {32, 64, 128, 256}, 64},
          {"TILE_N", {32, 64, 128, 256}, 64},
          {"TILE_K", {8, 16, 32}, 16},
          {"THREAD_M", {4, 8}, 8},
          {"THREAD_N", thread_columns, thread_columns[0]}};
}

}  // namespace

bool contract_splits(const ContractSize& size, const DeviceFacts& device) {
  constexpr double k_least_steps = 512.0;
  constexpr double k_tile = 64.0;
  const double tiles = size.batch * std::ceil(size.rows / k_tile) * std::ceil(size.columns / k_tile);
  return 2.0 * tiles <= static_cast<double>(device.compute_units) && size.steps >= k_least_steps;
}

TileProducts tile_products(Dialect dialect, const DeviceFacts& device) {
  if (dialect != cuda_dialect()) return TileProducts::simt;
  const auto arch = device.gpu ? find_gpu_arch(device.gpu->arch) : std::nullopt;
  if (!arch) return TileProducts::tf32;
  // Tensor cores multiply half as many tf32 numbers as f16 ones, and each product of f32 takes three.
  constexpr int k_first_with_tf32 = 80;
  constexpr std::int64_t k_f16_per_product = 6;
  const bool faster = arch->f16_per_clock > k_f16_per_product * arch->f32_per_clock;
  return arch_number(device) >= k_first_with_tf32 && faster ? TileProducts::tf32 : TileProducts::simt;
}

std::vector<Tunable> contract_gpu_tunables(const std::vector<ContractSize>& sizes, TileProducts products,
                                           const DeviceFacts& device) {
  std::vector<Tunable> tunables = gpu_tiles(products);
  const bool splits =
      std::any_of(sizes.begin(), sizes.end(), [&](const ContractSize& size) { return contract_splits(size, device); });
  if (splits) tunables.push_back({"SPLIT_K", {2, 4, 8, 16, 32, 64}, 8});
  const auto best = cheapest_contracts(
      tunables, contract_gpu_constraints(products), device,
      [&](const IntBindings& one) { return contract_gpu_cost(sizes, products, device, one); }, 1);
  KW_CHECK(!best.empty(), "no tile of a contraction fits {}", device.name);
  for (auto& tunable : tunables) tunable.default_value = best[0].at(tunable.name);
  return tunables;
}

std::vector<std::string> contract_gpu_constraints(TileProducts products) {
  const std::string threads = "(TILE_M / THREAD_M * (TILE_N / THREAD_N))";
  const bool tf32 = products == TileProducts::tf32;
  const int strides = tf32 ? 16 : 8;  // what rows of both tiles are longer by in shared memory
  std::vector<std::string> constraints = {
      fmt::format("{0} >= 32 && {0} <= 1024", threads),
      fmt::format("TILE_M * TILE_K % (4 * {0}) == 0 && TILE_N * TILE_K % (4 * {0}) == 0", threads),
      fmt::format("8 * TILE_K * (TILE_M + TILE_N + {}) <= min(49152, shared_bytes_per_block)", strides),
      fmt::format("TILE_M / THREAD_M * (TILE_N + 4) <= 2 * TILE_K * (TILE_M + TILE_N + {})", strides),
      fmt::format("THREAD_M * THREAD_N + 2 * (THREAD_M + THREAD_N) + 2 * (TILE_M + TILE_N) * TILE_K / {0} + {1} <= "
                  "min(max_registers_per_thread, registers_per_block / {0})",
                  threads, tf32 ? 80 : 48)};
  if (tf32) constraints.emplace_back("TILE_M % (8 * THREAD_M) == 0");
  return constraints;
}

double contract_gpu_cost(const std::vector<ContractSize>& sizes, TileProducts products, const DeviceFacts& device,
                         const IntBindings& assignment) {
  double cost = 0.0;
  for (const auto& size : sizes) cost += gpu_cost_of(size, products, device, assignment);
  return cost;
}

}  // namespace kw
