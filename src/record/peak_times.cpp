#include "record/peak_times.hpp"

namespace kw {

std::optional<PeakTimes> peak_times(const DeviceFacts& device, const Problem& problem, const WorkloadCost& work) {
  double flops = device.peak_f32_flops;
  if (device.gpu) {
    const bool narrow = !problem.outputs.empty() && is_16_bit_float(problem.outputs.front().dtype);
    flops = std::max(flops, device.gpu->peak_f16_flops * (narrow ? 1.0 : 0.5));
  }
  if (flops <= 0 || device.peak_bytes <= 0) return std::nullopt;
  return PeakTimes{1e9 * work.flops / flops, 1e9 * work.bytes / device.peak_bytes};
}

bool waits_for_memory(const DeviceFacts& device, const WorkloadCost& work) {
  if (!(device.peak_f32_flops > 0) || !(device.peak_bytes > 0)) return false;
  return work.steps / device.peak_f32_flops < work.bytes / device.peak_bytes;
}

}  // namespace kw
