#pragma once
// Trusted kernels, in the text of the device's language (Language::calibration), that measure what a device can do: its
// multiply-add rate and its memory bandwidth. Rooflines and the "faster than the machine" gate stand on these figures.
// Each comes with a ready launch plan; whoever measures runs it several times and takes the fastest.

#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "hardware/device_facts.hpp"
#include "record/launch_plan.hpp"

namespace kw {

struct CalibrationKernel {
  std::string source;
  LaunchPlan plan;
  double flops = 0;  ///< done by one run of the plan; a multiply-add counts 2
  double bytes = 0;  ///< moved to and from memory by one run of the plan
};

/// f32 multiply-adds in registers on every compute unit; 10 to 20 ms at 50 to 120 GFLOP/s per compute unit.
/// codegen.unsupported for targets without one.
[[nodiscard]] Result<CalibrationKernel> multiply_add_calibration(const DeviceFacts& device);

/// Reads and writes a buffer several times the last-level cache, in order, once per launch of the plan.
[[nodiscard]] Result<CalibrationKernel> bandwidth_calibration(const DeviceFacts& device);

/// Copies such a buffer to another one, past the caches.
[[nodiscard]] Result<CalibrationKernel> copy_calibration(const DeviceFacts& device);

/// The same kernel once, over buffers of about so many bytes each: at most 512 MiB and an eighth of the device's
/// memory.
[[nodiscard]] Result<CalibrationKernel> copy_kernel(const DeviceFacts& device, std::int64_t bytes);

}  // namespace kw
