#pragma once
// Which OpenCL devices there are and what they say about themselves.

#include <string>
#include <vector>

#include "device/opencl/api.hpp"
#include "hardware/device_facts.hpp"

namespace kw::opencl {

struct ListedDevice {
  cl_device_id id = nullptr;
  bool pocl = false;  ///< needs pocl_cache.hpp
  /// Oclgrind: knows what was written through commands only, and takes memory filled by the host for uninitialised.
  bool tracks_writes = false;
  DeviceFacts facts;
};

/// CPUs, GPUs and accelerators of every platform, numbered "opencl:0", "opencl:1", ... in the loader's order.
/// errc::device_unavailable says what to install when there is none.
[[nodiscard]] Result<std::vector<ListedDevice>> list_devices(const Api& api);

}  // namespace kw::opencl
