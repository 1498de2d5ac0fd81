#pragma once
// Measures the device's peaks with trusted kernels, so that the roofline is this machine's and not a data sheet's.

#include "base/result.hpp"
#include "verify/processes/execution_backend.hpp"

namespace kw {

namespace errc {
inline constexpr ErrorCode calibration{"verify.calibration", ExitClass::environment};
}  // namespace errc

/// The device's facts with peak_f32_flops and peak_bytes filled in: the best of several launches each, because
/// disturbance only ever makes a peak look lower. Devices that never report a time keep 0.
[[nodiscard]] Result<DeviceFacts> calibrate(ExecutionBackend& backend);

}  // namespace kw
