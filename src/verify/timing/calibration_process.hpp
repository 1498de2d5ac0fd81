#pragma once
// Builds and starts the kernels of codegen/calibration.hpp, which are ours: nothing here guards against what they do.

#include <chrono>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "codegen/calibration.hpp"
#include "verify/processes/execution_backend.hpp"

namespace kw {

namespace errc {
inline constexpr ErrorCode calibration{"verify.calibration", ExitClass::environment};
}  // namespace errc

/// For a build, a start or a launch.
inline constexpr Duration k_calibration_deadline = std::chrono::seconds(20);

[[nodiscard]] Error calibration_error(const DeviceFacts& device, const std::string& what);

/// The binary.
[[nodiscard]] Result<std::string> build_calibration(ExecutionBackend& backend, const CalibrationKernel& kernel);

/// A process with the kernel's plan selected and zeros in its buffers.
[[nodiscard]] Result<std::unique_ptr<KernelProcess>> start_calibration(ExecutionBackend& backend,
                                                                       const CalibrationKernel& kernel,
                                                                       std::string binary);

}  // namespace kw
