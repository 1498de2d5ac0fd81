#pragma once
// Which GPUs the driver has and what it says about them.

#include <string>
#include <vector>

#include "device/cuda/driver_api.hpp"
#include "hardware/device_facts.hpp"

namespace kw::cuda {

struct ListedGpu {
  DeviceOrdinal ordinal = 0;
  DeviceFacts facts;
};

/// Initialises the driver; "cuda:0", "cuda:1", ... in the driver's order. Peaks are what units, clocks and the memory
/// bus allow. errc::device_unavailable when there is none, or none of a known architecture.
[[nodiscard]] Result<std::vector<ListedGpu>> list_gpus(const DriverApi& api);

}  // namespace kw::cuda
