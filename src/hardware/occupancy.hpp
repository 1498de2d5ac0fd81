#pragma once
// How many blocks of a kernel are resident on one unit at a time. On NVIDIA's GPUs the rule is the one of their
// occupancy calculator: registers are given out per warp in 256s and to four partitions of the unit, shared memory per
// block in 128s (256s on sm_75). On AMD's it is the one LLVM's AMDGPU target computes occupancy with: registers in the
// units and partitions of gpu_arch.hpp, local data share in 512s, and blocks of one wavefront take none of a unit's
// barriers. Scalar registers are left out there; they do not limit the architectures in gpu_archs(). The least of what
// threads, blocks, registers and shared memory allow counts.

#include <cstdint>

#include "hardware/device_facts.hpp"

namespace kw {

struct BlockResources {
  std::int64_t threads = 1;
  std::int64_t registers_per_thread = 0;
  std::int64_t shared_bytes = 0;  ///< declared and dynamic
};

/// 0 when not even one block fits, or when the facts say nothing about the unit.
[[nodiscard]] std::int64_t resident_blocks(const GpuFacts& gpu, const BlockResources& block);

/// Resident warps over the most a unit can hold, 0 to 1.
[[nodiscard]] double occupancy(const GpuFacts& gpu, const BlockResources& block);

}  // namespace kw
