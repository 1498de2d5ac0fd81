#include "target/occupancy.hpp"

#include <algorithm>
#include <limits>

#include "base/int_math.hpp"

namespace kw {
namespace {

constexpr std::int64_t k_register_unit = 256;
constexpr std::int64_t k_partitions = 4;

std::int64_t warps_of(const GpuFacts& gpu, const BlockResources& block) {
  return ceil_div(block.threads, gpu.warp_size);
}

std::int64_t by_registers(const GpuFacts& gpu, const BlockResources& block) {
  if (block.registers_per_thread <= 0) return std::numeric_limits<std::int64_t>::max();
  if (block.registers_per_thread > gpu.max_registers_per_thread) return 0;
  const std::int64_t per_warp = round_up(block.registers_per_thread * gpu.warp_size, k_register_unit);
  const std::int64_t warps = warps_of(gpu, block);
  if (per_warp * round_up(warps, k_partitions) > gpu.registers_per_block) return 0;
  const std::int64_t resident_warps = gpu.registers_per_unit / k_partitions / per_warp * k_partitions;
  return resident_warps / warps;
}

std::int64_t by_shared_memory(const GpuFacts& gpu, const BlockResources& block) {
  const std::int64_t unit = gpu.reserved_shared_bytes_per_block > 0 ? 128 : 256;
  const std::int64_t bytes = round_up(block.shared_bytes + gpu.reserved_shared_bytes_per_block, unit);
  return bytes == 0 ? std::numeric_limits<std::int64_t>::max() : gpu.shared_bytes_per_unit / bytes;
}

}  // namespace

std::int64_t resident_blocks(const GpuFacts& gpu, const BlockResources& block) {
  if (gpu.max_threads_per_unit <= 0 || block.threads < 1) return 0;
  const std::int64_t by_threads = gpu.max_threads_per_unit / gpu.warp_size / warps_of(gpu, block);
  return std::min({by_threads, gpu.max_blocks_per_unit, by_registers(gpu, block), by_shared_memory(gpu, block)});
}

double occupancy(const GpuFacts& gpu, const BlockResources& block) {
  const std::int64_t most = gpu.max_threads_per_unit / gpu.warp_size;
  if (most <= 0) return 0;
  return static_cast<double>(resident_blocks(gpu, block) * warps_of(gpu, block)) / static_cast<double>(most);
}

}  // namespace kw
