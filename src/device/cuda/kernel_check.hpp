#pragma once
// Compares a cubin's kernels with the launches that are planned for them, so that a mistake in either is explained at
// build time in words rather than at launch time as a status.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device/cuda/cubin.hpp"
#include "protocol/messages.hpp"
#include "target/device_facts.hpp"

namespace kw::cuda {

struct KernelCheck {
  BuildStatus status = BuildStatus::ok;
  std::string problem;                ///< what does not fit, and what to change
  std::vector<KernelReport> kernels;  ///< one per launch
};

/// `log` is the compiler's, for what only ptxas tells; `device` needs the limits of its architecture.
[[nodiscard]] KernelCheck check_kernels(std::span<const CubinKernel> kernels, std::string_view log,
                                        std::span<const PlannedLaunch> launches, const DeviceFacts& device);

}  // namespace kw::cuda
