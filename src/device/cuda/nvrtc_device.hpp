#pragma once
// NVRTC as a device that builds and never runs: "nvrtc:sm_90a" compiles for any GPU of that architecture, present or
// not. The build process uses it for real GPUs as well, so that compiling never touches the driver.

#include <memory>
#include <string>
#include <vector>

#include "device/device.hpp"

namespace kw {

/// The compiler itself as one entry: `name` is its version, `driver` the library, target "cuda".
[[nodiscard]] Result<std::vector<DeviceFacts>> describe_nvrtc();
/// errc::device_unavailable without the library, or for an id that is not "nvrtc:" and an architecture.
[[nodiscard]] Result<std::unique_ptr<Device>> open_nvrtc(const std::string& device_id);

}  // namespace kw
