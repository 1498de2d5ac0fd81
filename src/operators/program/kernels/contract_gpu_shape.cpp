#include "operators/program/kernels/contract_gpu_shape.hpp"

#include <algorithm>

#include "operators/program/kernels/contract_direct_shape.hpp"
#include "operators/program/kernels/contract_strip_shape.hpp"

namespace kw {
namespace {

/// A warpgroup has 64 rows, and its lanes two rows each.
std::vector<Tunable> wgmma_tiles() {
  return {{"TILE_M", {64, 128, 256}, 128},
          {"TILE_N", {64, 128, 256}, 128},
          {"TILE_K", {32}, 32},
          {"THREAD_M", {2}, 2},
          {"THREAD_N", {16, 32}, 32}};
}

/// A row of a tile is 128 bytes of steps.
std::vector<Tunable> half_tile_tunables() {
  return {{"TILE_M", {64, 128, 256}, 128}, {"TILE_N", {64, 128, 256}, 256}, {"TILE_K", {64}, 64}, {"THREAD_M", {2}, 2},
          {"THREAD_N", {16, 32, 64}, 64},  {"TILE_STAGES", {3, 4, 6, 8}, 4}};
}

/// A row of a tile is 128 bytes: the large parts of 32 steps and the small ones.
std::vector<Tunable> scaled_tile_tunables() {
  return {{"TILE_M", {64, 128, 256}, 128}, {"TILE_N", {64, 128, 256}, 128}, {"TILE_K", {32}, 32}, {"THREAD_M", {2}, 2},
          {"THREAD_N", {16, 32}, 32},      {"TILE_STAGES", {3, 4, 6}, 6}};
}

/// An instruction's lanes have 32 columns among them.
std::vector<Tunable> gpu_tiles(const std::vector<ContractSize>& sizes, TileProducts how) {
  if (how == TileProducts::patches)
    return patch_tunables(std::ranges::any_of(sizes, [](const auto& size) { return size.patch && size.patch->wide; }));
  if (how == TileProducts::wgmma) return wgmma_tiles();
  const bool rounded = std::ranges::any_of(sizes, &ContractSize::rounded);
  if (how == TileProducts::halves || (how == TileProducts::scaled_halves && rounded)) return half_tile_tunables();
  if (how == TileProducts::scaled_halves) return scaled_tile_tunables();
  if (how == TileProducts::strips) return strip_tunables();
  if (how == TileProducts::direct) return direct_tunables();
  const std::vector<std::int64_t> thread_columns =
      how == TileProducts::tf32 ? std::vector<std::int64_t>{8} : std::vector<std::int64_t>{4, 8};
  return {{"TILE_M", {32, 64, 128, 256}, 64},
          {"TILE_N", {32, 64, 128, 256}, 64},
          {"TILE_K", {8, 16, 32}, 16},
          {"THREAD_M", {4, 8}, 8},
          {"THREAD_N", thread_columns, thread_columns[0]}};
}

std::vector<Tunable> gpu_tunables(const std::vector<ContractSize>& sizes, TileProducts products,
                                  const DeviceFacts& device) {
  std::vector<Tunable> tunables = gpu_tiles(sizes, products);
  if (products == TileProducts::patches && !without_patches(sizes, device).empty())
    tunables.push_back({"TILE_K", {32}, 32});
  const bool splits =
      products != TileProducts::strips && products != TileProducts::direct &&
      std::any_of(sizes.begin(), sizes.end(), [&](const ContractSize& size) { return contract_splits(size, device); });
  if (splits) tunables.push_back({"SPLIT_K", {2, 4, 8, 16, 32, 64}, 8});
  return tunables;
}

/// Two stages of both parts of each number in shared memory, or three of rounded ones. Of the registers, sums are held
/// twice, those of a tile and those of all; but not those of short sums of rounded factors.
std::vector<std::string> wgmma_constraints(const std::vector<ContractSize>& sizes) {
  const bool split = std::any_of(sizes.begin(), sizes.end(), [](const ContractSize& size) { return !size.rounded; });
  const bool twice = split || std::any_of(sizes.begin(), sizes.end(), is_long_sum);
  const std::string threads = "(TILE_M / THREAD_M * (TILE_N / THREAD_N))";
  return {"TILE_M % 64 == 0 && TILE_N % (4 * THREAD_N) == 0", fmt::format("{0} >= 128 && {0} <= 512", threads),
          fmt::format("TILE_M * TILE_K % (4 * {0}) == 0 && TILE_N * TILE_K % (4 * {0}) == 0", threads),
          fmt::format("{} * TILE_K * (TILE_M + TILE_N) + 1024 <= shared_bytes_per_block", split ? 16 : 12),
          fmt::format("{1} * THREAD_N + (TILE_M + TILE_N) * TILE_K / {0} + 40 <= "
                      "min(max_registers_per_thread, registers_per_block / {0})",
                      threads, twice ? 4 : 2)};
}

/// A thread's sums are held once; finished lines of them pass through the tiles.
std::vector<std::string> half_constraints() {
  const std::string threads = "(TILE_M / THREAD_M * (TILE_N / THREAD_N))";
  return {"TILE_M % 64 == 0 && TILE_N % (4 * THREAD_N) == 0",
          fmt::format("{0} >= 128 && {0} <= 512", threads),
          fmt::format("TILE_M * TILE_K % (8 * {0}) == 0 && TILE_N * TILE_K % (8 * {0}) == 0", threads),
          "2 * TILE_STAGES * TILE_K * (TILE_M + TILE_N) + 1024 <= shared_bytes_per_block",
          "2 * TILE_M * (TILE_N + 4) <= 2 * TILE_STAGES * TILE_K * (TILE_M + TILE_N)",
          fmt::format("2 * THREAD_N + 2 * (TILE_M + TILE_N) * TILE_K / 8 / {0} + 48 <= "
                      "min(max_registers_per_thread, registers_per_block / {0})",
                      threads)};
}

/// As those, with the sums of a thread three times.
std::vector<std::string> scaled_constraints() {
  const std::string threads = "(TILE_M / THREAD_M * (TILE_N / THREAD_N))";
  return {"TILE_M % 64 == 0 && TILE_N % (4 * THREAD_N) == 0",
          fmt::format("{0} >= 128 && {0} <= 512", threads),
          fmt::format("TILE_M * TILE_K % (4 * {0}) == 0 && TILE_N * TILE_K % (4 * {0}) == 0", threads),
          "4 * TILE_STAGES * TILE_K * (TILE_M + TILE_N) + 1024 <= shared_bytes_per_block",
          "2 * TILE_M * (TILE_N + 4) <= 4 * TILE_STAGES * TILE_K * (TILE_M + TILE_N)",
          fmt::format("6 * THREAD_N + (TILE_M + TILE_N) * TILE_K / 4 / {0} + 30 <= "
                      "min(max_registers_per_thread, registers_per_block / {0})",
                      threads)};
}

}  // namespace

std::vector<ContractSize> without_patches(const std::vector<ContractSize>& sizes, const DeviceFacts& device) {
  std::vector<ContractSize> others;
  for (const auto& size : sizes) {
    if (!by_patches(size, TileProducts::patches, device)) others.push_back(size);
  }
  return others;
}

std::vector<IntBindings> cheapest_tiles(const std::vector<ContractSize>& sizes, TileProducts products,
                                        const DeviceFacts& device) {
  return cheapest_contracts(
      gpu_tunables(sizes, products, device), contract_gpu_constraints(sizes, products, device), device,
      [&](const IntBindings& one) { return contract_gpu_cost(sizes, products, device, one); }, 1);
}

IntBindings cheapest_tile(const std::vector<ContractSize>& sizes, TileProducts products, const DeviceFacts& device) {
  auto best = cheapest_tiles(sizes, products, device);
  KW_CHECK(!best.empty(), "no tile of a contraction fits {}", device.name);
  return std::move(best[0]);
}

std::vector<Tunable> contract_gpu_tunables(const std::vector<ContractSize>& sizes, TileProducts products,
                                           const DeviceFacts& device) {
  auto tunables = gpu_tunables(sizes, products, device);
  const auto best = cheapest_tile(sizes, products, device);
  for (auto& tunable : tunables) tunable.default_value = best.at(tunable.name);
  return tunables;
}

std::vector<std::string> contract_gpu_constraints(const std::vector<ContractSize>& sizes, TileProducts products,
                                                  const DeviceFacts& device) {
  if (products == TileProducts::patches) {
    const auto others = without_patches(sizes, device);
    auto constraints = others.empty() ? std::vector<std::string>() : wgmma_constraints(others);
    for (const auto& size : sizes) {
      if (!by_patches(size, products, device)) continue;
      for (auto& one : patch_constraints(*size.patch, size.rounded, is_long_sum(size))) {
        if (std::ranges::count(constraints, one) == 0) constraints.push_back(std::move(one));
      }
    }
    return constraints;
  }
  if (products == TileProducts::wgmma) return wgmma_constraints(sizes);
  const bool rounded = std::ranges::any_of(sizes, &ContractSize::rounded);
  if (products == TileProducts::halves || (products == TileProducts::scaled_halves && rounded))
    return half_constraints();
  if (products == TileProducts::scaled_halves) return scaled_constraints();
  if (products == TileProducts::direct) return direct_constraints(sizes);
  if (products == TileProducts::strips) return strip_constraints(std::ranges::all_of(sizes, &ContractSize::rounded));
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

}  // namespace kw
