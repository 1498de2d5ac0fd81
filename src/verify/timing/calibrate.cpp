#include "verify/timing/calibrate.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "codegen/calibration.hpp"
#include "verify/timing/calibration_process.hpp"

namespace kw {
namespace {

/// Launches of each kernel. The first one of a brief look warms up.
constexpr int k_launches = 5;
constexpr int k_brief_launches = 2;

/// Seconds of the fastest of so many launches.
Result<double> fastest_launch(ExecutionBackend& backend, const CalibrationKernel& kernel, std::string binary,
                              int launches) {
  const DeviceFacts& device = backend.device();
  KW_TRY(const auto process, start_calibration(backend, kernel, std::move(binary)));
  double fastest = 0;
  for (int i = 0; i < launches; ++i) {
    auto launched = process->launch(false, k_calibration_deadline);
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
  // In place is the faster one on some processors, and the copy on others.
  facts.peak_bytes = std::max(bandwidth.bytes / seconds[1], copy.bytes / seconds[2]);
  return facts;
}

}  // namespace kw
