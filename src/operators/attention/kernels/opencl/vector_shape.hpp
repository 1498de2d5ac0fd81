#pragma once
// Tile shapes of the vector style: which are legal on a device, which is the first guess, and what each should cost.

#include <string>
#include <vector>

#include "hardware/device_facts.hpp"
#include "hardware/vector_registers.hpp"
#include "record/bundle.hpp"

namespace kw {

/// The style's tunables, with the first guess for the device as defaults.
[[nodiscard]] std::vector<Tunable> vector_tunables(const DeviceFacts& device);
/// Register tiles that fit, blocks of whole panels, private arrays that stay small.
[[nodiscard]] std::vector<std::string> vector_constraints(const DeviceFacts& device);

}  // namespace kw
