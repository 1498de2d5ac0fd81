#pragma once
// Compares a cubin's kernels with the launches that are planned for them, so that a mistake in either is explained at
// build time in words rather than at launch time as a status.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device/build_steps.hpp"
#include "device/cuda/cubin.hpp"
#include "hardware/device_facts.hpp"
#include "protocol/messages.hpp"

namespace kw::cuda {

struct KernelCheck {
  KernelMismatch mismatch;            ///< of the first launch that does not fit
  std::vector<KernelReport> kernels;  ///< one per launch
};

/// `log` is the compiler's, for what only ptxas tells; `device` needs the limits of its architecture.
[[nodiscard]] KernelCheck check_kernels(std::span<const CubinKernel> kernels, std::string_view log,
                                        std::span<const PlannedLaunch> launches, const DeviceFacts& device);

}  // namespace kw::cuda
