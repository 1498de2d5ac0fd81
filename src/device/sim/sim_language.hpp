#pragma once
// The languages that are simulated, where they differ for the worker.

#include <string_view>

#include "target/device_facts.hpp"

namespace kw::sim {

struct SimLanguage {
  std::string_view prelude;      ///< the header of runtime/ that a candidate sees
  std::string_view source_name;  ///< what diagnostics call the candidate's source
};

inline constexpr SimLanguage k_cuda_language{"cuda.cuh", "kernel.cu"};
inline constexpr SimLanguage k_hip_language{"hip.cuh", "kernel.hip"};

[[nodiscard]] inline const SimLanguage& language_of(const DeviceFacts& device) {
  return device.target == "hip" ? k_hip_language : k_cuda_language;
}

/// Of a warp of the device: 32 or 64.
[[nodiscard]] inline unsigned lanes_of(const DeviceFacts& device) {
  return device.gpu && device.gpu->warp_size == 64 ? 64U : 32U;
}

}  // namespace kw::sim
