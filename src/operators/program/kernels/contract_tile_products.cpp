// What multiplies the tiles of a GPU's blocks: the way that is estimated to take least, where measurements say no
// other.
#include <algorithm>

#include "hardware/gpu_arch.hpp"
#include "operators/program/kernels/contract_direct_shape.hpp"
#include "operators/program/kernels/contract_gpu_shape.hpp"
#include "operators/program/kernels/contract_strip_shape.hpp"

namespace kw {
namespace {

/// By how much convolutions whose elements are gathered took longer on an H200 than estimated, in the median: what
/// loads wait for is left out, which matters more where products are short, and what outputs that lie apart cost.
double longer_than_estimated(const std::vector<ContractSize>& sizes, TileProducts how) {
  const bool rounded = std::any_of(sizes.begin(), sizes.end(), [](const ContractSize& size) { return size.rounded; });
  const bool phases = std::any_of(sizes.begin(), sizes.end(),
                                  [](const ContractSize& size) { return size.patch && size.patch->phases; });
  if (how == TileProducts::tf32) return rounded ? 1.2 : 0.8;
  // 1-81 of KernelBench takes half as long by patches on an H100, whose estimate is higher than it was.
  if (phases) return rounded ? 3.3 : 1.7;
  return rounded ? 2.0 : 1.3;
}

/// What memory takes of the estimate of patches: other tiles write the same places.
double memory_of_patches(const std::vector<ContractSize>& sizes, const DeviceFacts& device,
                         const IntBindings& assignment) {
  double memory = 0.0;
  for (const auto& size : sizes) {
    if (size.patch) memory += patch_memory(*size.patch, size.rounded, device, assignment);
  }
  return memory;
}

/// Of split factors, patches of three channels have a fourth of zeros. Over three axes and in phases that cost more
/// than it gave: on an H200 five such convolutions took 1.1 to 1.3 times as long by patches
/// (docs/results/2026-11-25-h200-patches.md).
bool is_gathered_faster(const ContractSize& size) {
  constexpr double k_four = 4.0;
  return !size.rounded && size.patch && size.patch->phases && size.patch->depth < k_four && size.patch->others > 1.0;
}

/// Whether all contractions are multiplied by strips. None is where patches are asked for.
bool by_strips(const std::vector<ContractSize>& sizes, const DeviceFacts& device, ContractWays ways) {
  const bool can = ways.strips != WayUse::never && std::ranges::all_of(sizes, &ContractSize::strips) &&
                   !cheapest_tiles(sizes, TileProducts::strips, device).empty();
  if (!can || ways.strips == WayUse::always) return can;
  return ways.patches != WayUse::always &&
         std::ranges::all_of(sizes, [&](const ContractSize& size) { return suits_strips(size, device); });
}

/// Whether all contractions are computed directly. None is where another way is asked for.
bool are_direct(const std::vector<ContractSize>& sizes, const DeviceFacts& device, ContractWays ways) {
  const bool can = ways.direct != WayUse::never &&
                   std::ranges::all_of(sizes, [](const ContractSize& size) { return size.direct.has_value(); }) &&
                   !cheapest_tiles(sizes, TileProducts::direct, device).empty();
  if (!can || ways.direct == WayUse::always) return can;
  const bool others = ways.patches == WayUse::always || ways.strips == WayUse::always;
  if (others || sizes.empty() || !std::ranges::all_of(sizes, is_short_convolution)) return false;
  // Tiles of such convolutions took half to all of what is estimated for them on an H200, and the estimate of direct
  // ones is not measured.
  constexpr double k_of_tiles = 0.5;
  const auto least = [&](TileProducts how) {
    return contract_gpu_cost(sizes, how, device, cheapest_tile(sizes, how, device));
  };
  return least(TileProducts::direct) < k_of_tiles * least(TileProducts::tf32);
}

/// Whether the factors of all contractions are split before they are multiplied, or all are rounded. None is where
/// patches are asked for.
bool are_scaled(const std::vector<ContractSize>& sizes, const DeviceFacts& device, ContractWays ways) {
  const bool can =
      ways.scaled != WayUse::never && !sizes.empty() &&
      std::ranges::all_of(
          sizes, [&](const ContractSize& size) { return size.splitting_bytes && size.rounded == sizes[0].rounded; }) &&
      !cheapest_tiles(sizes, TileProducts::scaled_halves, device).empty();
  if (!can || ways.scaled == WayUse::always) return can;
  if (ways.patches == WayUse::always) return false;
  const auto least = [&](TileProducts how) {
    return contract_gpu_cost(sizes, how, device, cheapest_tile(sizes, how, device));
  };
  // Near the boundary lies one problem of KernelBench, 1-3: on an H100 it took 0.87 of what warpgroups take.
  constexpr double k_gain = 1.1;
  return least(TileProducts::scaled_halves) < k_gain * std::min(least(TileProducts::wgmma), least(TileProducts::tf32));
}

}  // namespace

TileProducts tile_products(Dialect dialect, const DeviceFacts& device, const std::vector<ContractSize>& sizes,
                           ContractWays ways) {
  if (dialect != cuda_dialect()) return TileProducts::simt;
  const auto arch = device.gpu ? find_gpu_arch(device.gpu->arch) : std::nullopt;
  if (!arch) return TileProducts::tf32;
  // Tensor cores multiply half as many tf32 numbers as f16 ones, and each strict product of f32 takes three.
  constexpr int k_first_with_tf32 = 80;
  constexpr std::int64_t k_f16_per_product = 6;
  const bool faster = arch->f16_per_clock > k_f16_per_product * arch->f32_per_clock;
  if (arch_number(device) < k_first_with_tf32 || !faster) return TileProducts::simt;
  constexpr int k_with_warpgroups = 90;
  const bool groups_multiply = arch_number(device) == k_with_warpgroups;
  if (groups_multiply && ways.scaled == WayUse::always && are_scaled(sizes, device, ways))
    return TileProducts::scaled_halves;
  if (are_direct(sizes, device, ways)) return TileProducts::direct;
  if (by_strips(sizes, device, ways)) return TileProducts::strips;
  if (!groups_multiply) return TileProducts::tf32;
  // With few rows and few steps most of a warpgroup's tile is empty: on an H200 up to 1.9 times slower than warps.
  const bool empty = std::all_of(sizes.begin(), sizes.end(), [](const ContractSize& size) {
    constexpr double k_few_rows = 32.0, k_few_steps = 128.0;
    return size.rows <= k_few_rows && size.steps < k_few_steps;
  });
  if (std::all_of(sizes.begin(), sizes.end(), [](const ContractSize& size) { return size.halves; }))
    return empty ? TileProducts::tf32 : TileProducts::halves;
  const auto least = [&](TileProducts how) {
    return contract_gpu_cost(sizes, how, device, cheapest_tile(sizes, how, device));
  };
  if (are_scaled(sizes, device, ways)) return TileProducts::scaled_halves;
  const auto groups =
      empty || least(TileProducts::tf32) <= least(TileProducts::wgmma) ? TileProducts::tf32 : TileProducts::wgmma;
  if (ways.patches == WayUse::never || without_patches(sizes, device).size() == sizes.size()) return groups;
  const auto patches = cheapest_tiles(sizes, TileProducts::patches, device);
  if (ways.patches == WayUse::always && !patches.empty()) return TileProducts::patches;
  if (std::any_of(sizes.begin(), sizes.end(), is_gathered_faster)) return groups;
  if (patches.empty()) return groups;
  const double gathered =
      with_memory(longer_than_estimated(sizes, groups) * least(groups), memory_of_patches(sizes, device, patches[0]));
  const bool cheaper = contract_gpu_cost(sizes, TileProducts::patches, device, patches[0]) < gathered;
  return cheaper ? TileProducts::patches : groups;
}

}  // namespace kw
