// The runtimes of the worker. Each has a folder of its own.
#include <array>

#include "device/cuda/cuda_device.hpp"
#include "device/cuda/nvrtc_device.hpp"
#include "device/device.hpp"
#include "device/hip/hipcc_device.hpp"
#include "device/null/null_device.hpp"
#include "device/opencl/opencl_device.hpp"
#include "device/sim/sim_device.hpp"

namespace kw {

std::span<const Backend> backends() {
  static constexpr std::array all{
      Backend{"opencl", describe_opencl_devices, open_opencl_device},
      Backend{"cuda", describe_cuda_devices, open_cuda_device},
      Backend{"nvrtc", describe_nvrtc, open_nvrtc, true},
      Backend{"hipcc", describe_hipcc, open_hipcc, true},
      Backend{"sim", describe_sim_devices, open_sim_device},
      Backend{"null", describe_null_device, open_null_device},
  };
  return all;
}

}  // namespace kw
