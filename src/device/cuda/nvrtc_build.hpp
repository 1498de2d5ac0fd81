#pragma once
// Source to cubin, with NVRTC. Needs no GPU and no driver.

#include "device/cuda/nvrtc_api.hpp"
#include "hardware/device_facts.hpp"
#include "protocol/messages.hpp"

namespace kw::cuda {

/// Compiles for `device`'s architecture with C++17, functions for the device by default, line information, and CUDA's
/// own headers where they are installed; then checks the kernels against the planned launches.
[[nodiscard]] BuildReply build(const NvrtcApi& api, const DeviceFacts& device, const BuildRequest& request);

}  // namespace kw::cuda
