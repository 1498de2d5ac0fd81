#pragma once
// What every GPU of one NVIDIA architecture has in common, from the tables of technical specifications per compute
// capability in the CUDA C++ Programming Guide. What differs between two products (units, clock, memory) is in
// devices/.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "target/device_facts.hpp"

namespace kw {

struct GpuArch {
  std::string_view name;        ///< as the compiler takes it: "sm_90a"
  std::string_view generation;  ///< "Hopper"; one that several have means the first of them in gpu_archs()
  std::int64_t shared_kib_per_unit;
  std::int64_t shared_kib_per_block;   ///< with opting in
  std::int64_t reserved_shared_bytes;  ///< of each block
  std::int64_t l1_kib;                 ///< together with shared memory
  std::int64_t max_threads_per_unit;
  std::int64_t max_blocks_per_unit;
  std::int64_t f32_per_clock;  ///< fused multiply-adds per unit
  std::int64_t f16_per_clock;  ///< multiply-adds of the tensor cores per unit: dense, f32 accumulator
  double clock_hz;             ///< of a typical product, for where none is given
};

/// 65536 registers per unit and block, 255 per thread, 1024 threads per block, 32 per warp, 48 KiB of declared shared
/// memory and 16 special functions per clock hold for all of them.
[[nodiscard]] std::span<const GpuArch> gpu_archs();

/// "sm_90a", "sm_90", "90", "9.0", "Hopper", in any case. Nothing when it is none of gpu_archs().
[[nodiscard]] std::optional<GpuArch> find_gpu_arch(std::string_view text);

/// A device of one unit: target "cuda", the limits of the architecture, no peaks and no memory.
[[nodiscard]] DeviceFacts gpu_arch_facts(const GpuArch& arch);

}  // namespace kw
