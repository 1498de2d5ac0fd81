#pragma once
// What every GPU of one architecture has in common: of NVIDIA's from the tables of technical specifications per compute
// capability in the CUDA C++ Programming Guide, of AMD's from the "Accelerator and GPU hardware specifications" of
// ROCm's documentation, the instruction set guides and LLVM's description of the AMDGPU target (registers). A unit is a
// streaming multiprocessor or a compute unit, a warp a wavefront there. What differs between two products (units,
// clock, memory) is in devices/.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "hardware/device_facts.hpp"

namespace kw {

struct GpuArch {
  std::string_view name;        ///< as the compiler takes it: "sm_90a", "gfx942"
  std::string_view generation;  ///< "Hopper"; one that several have means the first of them in gpu_archs()
  std::string_view target;      ///< the language that devices of it take
  std::int64_t shared_kib_per_unit;
  std::int64_t shared_kib_per_block;   ///< with opting in
  std::int64_t reserved_shared_bytes;  ///< of each block
  std::int64_t l1_kib;                 ///< together with shared memory
  std::int64_t max_threads_per_unit;
  std::int64_t max_blocks_per_unit;
  std::int64_t f32_per_clock;  ///< fused multiply-adds per unit
  std::int64_t f16_per_clock;  ///< multiply-adds of the tensor cores per unit: dense, f32 accumulator
  double clock_hz;             ///< of a typical product, for where none is given
  std::int64_t warp_size = 32;
  std::int64_t registers_per_unit = 65536;  ///< and block
  std::int64_t max_registers_per_thread = 255;
  std::int64_t register_unit = 256;  ///< in which a warp gets them
  std::int64_t partitions = 4;       ///< of a unit, each with its share of registers
  std::int64_t static_shared_kib_per_block = 48;
  /// In which a block gets shared memory; 0: 128 bytes where the system takes some of each block's share, else 256.
  std::int64_t shared_unit = 0;
  bool one_warp_takes_no_barrier = false;  ///< so that blocks of one warp are as many as threads allow
};

/// 1024 threads per block and 16 special functions per unit and clock hold for all of them.
[[nodiscard]] std::span<const GpuArch> gpu_archs();

/// "sm_90a", "sm_90", "90", "9.0", "Hopper", "gfx942", "CDNA3", in any case. Nothing when it is none of gpu_archs().
[[nodiscard]] std::optional<GpuArch> find_gpu_arch(std::string_view text);

/// A device of one unit: the target and the limits of the architecture, no peaks and no memory.
[[nodiscard]] DeviceFacts gpu_arch_facts(const GpuArch& arch);

/// "sm_90a" as 90; 0 where nothing is known, and for what is not NVIDIA's.
[[nodiscard]] int arch_number(const DeviceFacts& device);

}  // namespace kw
