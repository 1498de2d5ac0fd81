#include "hardware/gpu_arch.hpp"

#include <array>
#include <charconv>

#include "base/text.hpp"

namespace kw {
namespace {

constexpr std::int64_t k_kib = 1024;

/// "sm_90a" as "90".
std::string number_of(std::string text) {
  if (text.starts_with("sm_")) text.erase(0, 3);
  std::erase(text, '.');
  if (!text.empty() && text.back() == 'a') text.pop_back();
  return text;
}

}  // namespace

std::span<const GpuArch> gpu_archs() {
  static constexpr std::array all{
      GpuArch{"sm_75", "Turing", "cuda", 64, 64, 0, 96, 1024, 16, 64, 512, 1.59e9},
      GpuArch{"sm_80", "Ampere", "cuda", 164, 163, 1024, 192, 2048, 32, 64, 1024, 1.41e9},
      GpuArch{"sm_86", "Ampere", "cuda", 100, 99, 1024, 128, 1536, 16, 128, 256, 1.70e9},
      GpuArch{"sm_89", "Ada", "cuda", 100, 99, 1024, 128, 1536, 24, 128, 256, 2.52e9},
      GpuArch{"sm_90a", "Hopper", "cuda", 228, 227, 1024, 256, 2048, 32, 128, 2048, 1.98e9},
      GpuArch{"sm_100a", "Blackwell", "cuda", 228, 227, 1024, 256, 2048, 32, 128, 4096, 1.97e9},
      GpuArch{"sm_120", "Blackwell", "cuda", 100, 99, 1024, 128, 1536, 24, 128, 256, 2.41e9},
      // Four SIMDs of 512 registers per lane, given out in 8s.
      GpuArch{"gfx942", "CDNA3", "hip", 64,     64,  0,   32, 2048, 16,  128,
              1024,     2.10e9,  64,    131072, 512, 512, 4,  64,   512, true},
      // Two SIMDs of 1536 registers per lane, given out in 24s. Two compute units form a workgroup processor; these are
      // the figures of one.
      GpuArch{"gfx1100", "RDNA3", "hip", 64,    64,  0,   32, 1024, 16,  128,
              256,       2.50e9,  32,    98304, 256, 768, 2,  64,   512, true},
  };
  return all;
}

std::optional<GpuArch> find_gpu_arch(std::string_view text) {
  const std::string wanted = lower_case(text);
  for (const GpuArch& arch : gpu_archs()) {
    if (wanted == lower_case(arch.generation) || number_of(wanted) == number_of(std::string(arch.name))) return arch;
  }
  return std::nullopt;
}

DeviceFacts gpu_arch_facts(const GpuArch& arch) {
  DeviceFacts facts;
  facts.target = arch.target;
  facts.driver = "none";
  facts.kind = DeviceKind::gpu;
  facts.max_block_items = 1024;
  facts.shared_bytes_per_block = arch.shared_kib_per_block * k_kib;
  facts.l1_cache_bytes = arch.l1_kib * k_kib;
  GpuFacts& gpu = facts.gpu.emplace();
  gpu.arch = arch.name;
  gpu.warp_size = arch.warp_size;
  gpu.registers_per_unit = arch.registers_per_unit;
  gpu.registers_per_block = arch.registers_per_unit;
  gpu.max_registers_per_thread = arch.max_registers_per_thread;
  gpu.shared_bytes_per_unit = arch.shared_kib_per_unit * k_kib;
  gpu.static_shared_bytes_per_block = arch.static_shared_kib_per_block * k_kib;
  gpu.reserved_shared_bytes_per_block = arch.reserved_shared_bytes;
  gpu.max_threads_per_unit = arch.max_threads_per_unit;
  gpu.max_blocks_per_unit = arch.max_blocks_per_unit;
  gpu.clock_hz = arch.clock_hz;
  gpu.special_per_clock_per_unit = 16;
  return facts;
}

int arch_number(const DeviceFacts& device) {
  int number = 0;
  const std::string arch = device.gpu ? device.gpu->arch : "";
  if (arch.starts_with("sm_")) std::from_chars(arch.data() + 3, arch.data() + arch.size(), number);
  return number;
}

}  // namespace kw
