#include "verify/timing/calibrate.hpp"

#include <algorithm>

#include "codegen/calibration.hpp"
#include "verify/processes/build_deadline.hpp"

namespace kw {
namespace {

constexpr int k_launches = 5;
constexpr Duration k_calibration_deadline = std::chrono::seconds(20);

Error calibration_error(const DeviceFacts& device, const std::string& what) {
  return Error{errc::calibration, fmt::format("cannot measure the peaks of {}: {}", device.id, what),
               "run `kernelwright doctor`; other work on the device or a broken driver may be the cause"};
}

/// Seconds of the fastest launch.
Result<double> fastest_launch(ExecutionBackend& backend, const CalibrationKernel& kernel) {
  const DeviceFacts& device = backend.device();
  auto built = backend.build({device.id, kernel.source, {}, kernel.plan.launches}, patient(k_calibration_deadline));
  if (const auto* lost = std::get_if<LostWorker>(&built)) return fail(calibration_error(device, lost->detail));
  auto& reply = std::get<BuildReply>(built);
  if (reply.status != BuildStatus::ok) return fail(calibration_error(device, reply.log));
  auto started = backend.start({{std::move(reply.binary)}, {{kernel.plan, 0}}}, k_calibration_deadline);
  auto* process = std::get_if<std::unique_ptr<KernelProcess>>(&started);
  if (process == nullptr) return fail(calibration_error(device, "the calibration kernel does not start"));
  KW_TRY_VOID((*process)->select(0));
  for (std::size_t i = 0; i < kernel.plan.buffers.size(); ++i) {
    const auto bytes = (*process)->buffer(i);
    std::fill(bytes.begin(), bytes.end(), std::byte{0});
  }
  double fastest = 0;
  for (int i = 0; i < k_launches; ++i) {
    auto launched = (*process)->launch(false, k_calibration_deadline);
    const auto* outcome = std::get_if<LaunchOutcome>(&launched);
    if (outcome == nullptr) return fail(calibration_error(device, "the calibration kernel does not run"));
    const double seconds = static_cast<double>(outcome->claimed_ns) * 1e-9;
    fastest = i == 0 ? seconds : std::min(fastest, seconds);
  }
  if (fastest <= 0) return fail(calibration_error(device, "it took no time"));
  return fastest;
}

}  // namespace

Result<DeviceFacts> calibrate(ExecutionBackend& backend) {
  DeviceFacts facts = backend.device();
  if (facts.kind == DeviceKind::null_device || facts.kind == DeviceKind::simulator) return facts;
  // The driver's own figures (units, clocks, bus width): bounds that no kernel exceeds, and a kernel of ours that comes
  // near those of tensor cores would be a matrix library.
  if (facts.gpu && facts.peak_f32_flops > 0 && facts.peak_bytes > 0) return facts;
  KW_TRY(const auto multiply_add, multiply_add_calibration(facts));
  KW_TRY(const double flop_seconds, fastest_launch(backend, multiply_add));
  facts.peak_f32_flops = multiply_add.flops / flop_seconds;
  KW_TRY(const auto bandwidth, bandwidth_calibration(facts));
  KW_TRY(const double byte_seconds, fastest_launch(backend, bandwidth));
  facts.peak_bytes = bandwidth.bytes / byte_seconds;
  return facts;
}

}  // namespace kw
