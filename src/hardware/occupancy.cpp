#include "hardware/occupancy.hpp"

#include <algorithm>
#include <limits>

#include "base/int_math.hpp"
#include "hardware/gpu_arch.hpp"

namespace kw {
namespace {

/// In what pieces a unit's resources are given out.
struct Allocation {
  std::int64_t register_unit = 256;
  std::int64_t partitions = 4;
  std::int64_t shared_unit = 128;
  bool one_warp_takes_no_barrier = false;
};

Allocation allocation_of(const GpuFacts& gpu) {
  const auto arch = find_gpu_arch(gpu.arch);
  const std::int64_t by_reserve = gpu.reserved_shared_bytes_per_block > 0 ? 128 : 256;
  if (!arch) return {256, 4, by_reserve, false};
  return {arch->register_unit, arch->partitions, arch->shared_unit > 0 ? arch->shared_unit : by_reserve,
          arch->one_warp_takes_no_barrier};
}

std::int64_t warps_of(const GpuFacts& gpu, const BlockResources& block) {
  return ceil_div(block.threads, gpu.warp_size);
}

std::int64_t by_registers(const GpuFacts& gpu, const BlockResources& block, const Allocation& unit) {
  if (block.registers_per_thread <= 0) return std::numeric_limits<std::int64_t>::max();
  if (block.registers_per_thread > gpu.max_registers_per_thread) return 0;
  const std::int64_t per_warp = round_up(block.registers_per_thread * gpu.warp_size, unit.register_unit);
  const std::int64_t warps = warps_of(gpu, block);
  if (per_warp * round_up(warps, unit.partitions) > gpu.registers_per_block) return 0;
  const std::int64_t resident_warps = gpu.registers_per_unit / unit.partitions / per_warp * unit.partitions;
  return resident_warps / warps;
}

std::int64_t by_shared_memory(const GpuFacts& gpu, const BlockResources& block, const Allocation& unit) {
  const std::int64_t bytes = round_up(block.shared_bytes + gpu.reserved_shared_bytes_per_block, unit.shared_unit);
  return bytes == 0 ? std::numeric_limits<std::int64_t>::max() : gpu.shared_bytes_per_unit / bytes;
}

}  // namespace

std::int64_t resident_blocks(const GpuFacts& gpu, const BlockResources& block) {
  if (gpu.max_threads_per_unit <= 0 || block.threads < 1) return 0;
  const Allocation unit = allocation_of(gpu);
  const std::int64_t warps = warps_of(gpu, block);
  const std::int64_t by_threads = gpu.max_threads_per_unit / gpu.warp_size / warps;
  const std::int64_t by_barriers = unit.one_warp_takes_no_barrier && warps == 1 ? by_threads : gpu.max_blocks_per_unit;
  return std::min({by_threads, by_barriers, by_registers(gpu, block, unit), by_shared_memory(gpu, block, unit)});
}

double occupancy(const GpuFacts& gpu, const BlockResources& block) {
  const std::int64_t most = gpu.max_threads_per_unit / gpu.warp_size;
  if (most <= 0) return 0;
  return static_cast<double>(resident_blocks(gpu, block) * warps_of(gpu, block)) / static_cast<double>(most);
}

}  // namespace kw
