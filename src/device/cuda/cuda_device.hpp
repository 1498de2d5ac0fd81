#pragma once
// NVIDIA GPUs through the driver API. Building needs no driver (nvrtc_device.hpp); this is for the process that runs.

#include <memory>
#include <string>
#include <vector>

#include "device/device.hpp"

namespace kw {

[[nodiscard]] Result<std::vector<DeviceFacts>> describe_cuda_devices();
[[nodiscard]] Result<std::unique_ptr<Device>> open_cuda_device(const std::string& device_id);

}  // namespace kw
