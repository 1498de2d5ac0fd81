#pragma once
// Measures the device's peaks with trusted kernels, so that the roofline is this machine's and not a data sheet's.

#include <cstdint>

#include "base/parallel.hpp"
#include "base/result.hpp"
#include "verify/processes/execution_backend.hpp"

namespace kw {

/// How often each kernel is launched: twice, or often.
enum class CalibrationEffort : std::uint8_t { brief, full };

/// The device's facts with peak_f32_flops and peak_bytes filled in: the best of several launches each,
/// because disturbance only ever makes a peak look lower. Devices that never report a time keep what they have. Kernels
/// are built by `parallel`, and launched in turn.
[[nodiscard]] Result<DeviceFacts> calibrate(ExecutionBackend& backend,
                                            CalibrationEffort effort = CalibrationEffort::full,
                                            const ParallelFor& parallel = serial_for);

/// Whether calibrate() measures the device's peaks, which the driver of another one tells or nobody knows.
[[nodiscard]] bool needs_calibration(const DeviceFacts& device);

}  // namespace kw
