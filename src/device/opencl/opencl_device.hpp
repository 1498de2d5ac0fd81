#pragma once
// OpenCL 1.2 devices through whatever driver the loader finds. The driver's private files go to $TMPDIR.

#include <memory>
#include <string>
#include <vector>

#include "device/device.hpp"

namespace kw {

[[nodiscard]] Result<std::vector<DeviceFacts>> describe_opencl_devices();
[[nodiscard]] Result<std::unique_ptr<Device>> open_opencl_device(const std::string& device_id);

}  // namespace kw
