#pragma once
// What is known about a device and about a target's toolchain, as data. No driver calls here: the worker asks the
// driver and sends the answer; data files may supply facts for devices that are not present.

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace kw {

/// Stored in archives: never renumber.
enum class DeviceKind : std::uint8_t { cpu = 1, gpu = 2, simulator = 3, null_device = 4 };

/// What else is known of a GPU; zero: nothing. A unit is a streaming multiprocessor or a compute unit, a warp also a
/// wavefront; bytes of shared memory per block are DeviceFacts::shared_bytes_per_block.
struct GpuFacts {
  std::string arch;  ///< as the compiler takes it: "sm_90a", "gfx942"
  std::int64_t warp_size = 32;
  std::int64_t registers_per_unit = 0;   ///< 32-bit
  std::int64_t registers_per_block = 0;  ///< 32-bit
  std::int64_t max_registers_per_thread = 0;
  std::int64_t shared_bytes_per_unit = 0;
  std::int64_t static_shared_bytes_per_block = 0;    ///< what a block may declare; beyond it memory must be dynamic
  std::int64_t reserved_shared_bytes_per_block = 0;  ///< taken by the system from each block's share
  std::int64_t max_threads_per_unit = 0;
  std::int64_t max_blocks_per_unit = 0;
  double clock_hz = 0;                    ///< the highest a published number is based on
  double peak_f16_flops = 0;              ///< dense tensor cores, f32 accumulator, per second
  double special_per_clock_per_unit = 0;  ///< exp2, reciprocal and their like
};

struct DeviceFacts {
  std::string id;      ///< as --device takes it: "opencl:0", "null"
  std::string target;  ///< "opencl"
  std::string name;    ///< as the driver reports it
  std::string driver;  ///< name and version of the runtime
  DeviceKind kind = DeviceKind::cpu;
  std::int64_t compute_units = 1;    ///< cores or SMs
  std::int64_t max_block_items = 1;  ///< work-items per work-group
  std::int64_t shared_bytes_per_block = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t last_level_cache_bytes = 0;  ///< what a cold-cache flush must exceed
  std::int64_t l2_cache_bytes = 0;          ///< per core on a CPU, whole device on a GPU
  std::int64_t l1_cache_bytes = 0;
  std::int64_t vector_floats = 1;  ///< native f32 vector width, in elements
  double peak_f32_flops = 0;       ///< per second, measured by the calibration kernel or published; 0 when unknown
  double peak_bytes = 0;           ///< memory bytes per second, measured or published; 0 when unknown
  std::optional<GpuFacts> gpu;     ///< of devices that run CUDA C++ or HIP C++

  /// Names that bundle expressions may use: compute_units, max_block_items, shared_bytes_per_block, vector_floats,
  /// l1_cache_bytes, l2_cache_bytes; with GpuFacts also warp_size, registers_per_unit, registers_per_block,
  /// max_registers_per_thread, shared_bytes_per_unit, max_threads_per_unit, max_blocks_per_unit.
  [[nodiscard]] std::map<std::string, std::int64_t, std::less<>> bindings() const;
};

/// Facts of the CPU this process runs on (cores, caches, vector width), as the codegen needs them when no device is
/// asked: for `emit`, which must work with no driver at all. The caller sets the target.
[[nodiscard]] DeviceFacts host_cpu_facts();

}  // namespace kw
