#pragma once
// The simulator as a device: CUDA C++ and HIP C++ on this machine's CPU, for correctness. It never reports a time.
// "sim" has the limits of an H100; "sim:sm_80", "sim:sm_90" and "sim:sm_120" those of that architecture; for HIP,
// "sim:gfx942" those of an MI300X with wavefronts of 64, "sim:gfx1100" those of an RX 7900 XTX with wavefronts of 32.

#include <memory>
#include <string>
#include <vector>

#include "device/device.hpp"

namespace kw {

[[nodiscard]] Result<std::vector<DeviceFacts>> describe_sim_devices();
[[nodiscard]] Result<std::unique_ptr<Device>> open_sim_device(const std::string& device_id);

}  // namespace kw
