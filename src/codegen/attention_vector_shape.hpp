#pragma once
// Tile shapes of the vector style: which are legal on a device, which is the first guess, and what each should cost.

#include <string>
#include <vector>

#include "record/bundle.hpp"
#include "target/device_facts.hpp"

namespace kw {

/// The vector register file that a device's vector width implies.
struct VectorRegisters {
  std::int64_t per_float16 = 1;  ///< registers that hold sixteen floats
  std::int64_t count = 32;
};
[[nodiscard]] VectorRegisters vector_registers(const DeviceFacts& device);

/// The style's tunables, with the first guess for the device as defaults.
[[nodiscard]] std::vector<Tunable> vector_tunables(const DeviceFacts& device);
/// Register tiles that fit, blocks of whole panels, private arrays that stay small.
[[nodiscard]] std::vector<std::string> vector_constraints(const DeviceFacts& device);

}  // namespace kw
