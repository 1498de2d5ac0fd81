#pragma once
// A device that carries out the directives of null/program.hpp in the run process, with their real effects. For tests.

#include <memory>
#include <string>
#include <vector>

#include "device/device.hpp"

namespace kw {

[[nodiscard]] Result<std::vector<DeviceFacts>> describe_null_device();
[[nodiscard]] Result<std::unique_ptr<Device>> open_null_device(const std::string& device_id);

}  // namespace kw
