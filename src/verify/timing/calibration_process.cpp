#include "verify/timing/calibration_process.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <variant>

#include "verify/processes/build_deadline.hpp"

namespace kw {

Error calibration_error(const DeviceFacts& device, const std::string& what) {
  return Error{errc::calibration, fmt::format("cannot measure the peaks of {}: {}", device.id, what),
               "run `kernelwright doctor`; other work on the device or a broken driver may be the cause"};
}

Result<std::string> build_calibration(ExecutionBackend& backend, const CalibrationKernel& kernel) {
  const DeviceFacts& device = backend.device();
  auto built = backend.build({device.id, kernel.source, {}, kernel.plan.launches}, patient(k_calibration_deadline),
                             SourceOrigin::own);
  if (const auto* lost = std::get_if<LostWorker>(&built)) return fail(calibration_error(device, lost->detail));
  auto& reply = std::get<BuildReply>(built);
  if (reply.status != BuildStatus::ok) return fail(calibration_error(device, reply.log));
  return std::move(reply.binary);
}

Result<std::unique_ptr<KernelProcess>> start_calibration(ExecutionBackend& backend, const CalibrationKernel& kernel,
                                                         std::string binary) {
  auto started = backend.start({{std::move(binary)}, {{kernel.plan, 0}}}, k_calibration_deadline);
  auto* process = std::get_if<std::unique_ptr<KernelProcess>>(&started);
  if (process == nullptr) return fail(calibration_error(backend.device(), "the calibration kernel does not start"));
  KW_TRY_VOID((*process)->select(0));
  for (std::size_t i = 0; i < kernel.plan.buffers.size(); ++i) {
    const auto bytes = (*process)->buffer(i);
    std::fill(bytes.begin(), bytes.end(), std::byte{0});
  }
  return std::move(*process);
}

}  // namespace kw
