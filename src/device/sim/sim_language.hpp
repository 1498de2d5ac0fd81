#pragma once
// What the simulator asks of a device's language (language/language.hpp) and of its warps.

#include "base/result.hpp"
#include "hardware/device_facts.hpp"
#include "language/language.hpp"

namespace kw::sim {

/// The device's language must have one.
[[nodiscard]] inline const SimulatorDialect& dialect_of(const DeviceFacts& device) {
  const Language* language = find_language(device.target);
  KW_CHECK(language != nullptr && language->simulator, "no simulator for target {}", device.target);
  return *language->simulator;
}

/// Of a warp of the device: 32 or 64.
[[nodiscard]] inline unsigned lanes_of(const DeviceFacts& device) {
  return device.gpu && device.gpu->warp_size == 64 ? 64U : 32U;
}

}  // namespace kw::sim
