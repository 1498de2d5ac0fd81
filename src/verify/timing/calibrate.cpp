#include "verify/timing/calibrate.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "codegen/calibration.hpp"
#include "verify/processes/build_deadline.hpp"

namespace kw {
namespace {

/// Launches of each kernel. The first one of a brief look warms up.
constexpr int k_launches = 5;
constexpr int k_brief_launches = 2;
constexpr Duration k_calibration_deadline = std::chrono::seconds(20);

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

/// Seconds of the fastest of so many launches.
Result<double> fastest_launch(ExecutionBackend& backend, const CalibrationKernel& kernel, std::string binary,
                              int launches) {
  const DeviceFacts& device = backend.device();
  auto started = backend.start({{std::move(binary)}, {{kernel.plan, 0}}}, k_calibration_deadline);
  auto* process = std::get_if<std::unique_ptr<KernelProcess>>(&started);
  if (process == nullptr) return fail(calibration_error(device, "the calibration kernel does not start"));
  KW_TRY_VOID((*process)->select(0));
  for (std::size_t i = 0; i < kernel.plan.buffers.size(); ++i) {
    const auto bytes = (*process)->buffer(i);
    std::fill(bytes.begin(), bytes.end(), std::byte{0});
  }
  double fastest = 0;
  for (int i = 0; i < launches; ++i) {
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

bool needs_calibration(const DeviceFacts& device) {
  if (device.kind == DeviceKind::null_device || device.kind == DeviceKind::simulator) return false;
  // The driver's own figures (units, clocks, bus width): bounds that no kernel exceeds, and a kernel of ours that comes
  // near those of tensor cores would be a matrix library.
  return !device.gpu || device.peak_f32_flops <= 0 || device.peak_bytes <= 0;
}

Result<DeviceFacts> calibrate(ExecutionBackend& backend, CalibrationEffort effort, const ParallelFor& parallel) {
  DeviceFacts facts = backend.device();
  if (!needs_calibration(facts)) return facts;
  KW_TRY(const auto multiply_add, multiply_add_calibration(facts));
  KW_TRY(const auto bandwidth, bandwidth_calibration(facts));
  KW_TRY(const auto copy, copy_calibration(facts));
  const std::array kernels{&multiply_add, &bandwidth, &copy};
  std::array<Result<std::string>, kernels.size()> binaries;
  parallel(std::ssize(kernels), [&](std::int64_t i) {
    const auto index = static_cast<std::size_t>(i);
    binaries[index] = build_calibration(backend, *kernels[index]);
  });
  std::array<double, kernels.size()> seconds{};
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    KW_TRY(auto binary, std::move(binaries[i]));
    const int launches = effort == CalibrationEffort::brief ? k_brief_launches : k_launches;
    KW_TRY(seconds[i], fastest_launch(backend, *kernels[i], std::move(binary), launches));
  }
  facts.peak_f32_flops = multiply_add.flops / seconds[0];
  facts.copy_bytes = copy.bytes / seconds[2];
  facts.peak_bytes = std::max(bandwidth.bytes / seconds[1], *facts.copy_bytes);
  return facts;
}

}  // namespace kw
