#pragma once
// The vector registers of a CPU, for kernels that keep tiles in them.

#include <cstdint>

#include "hardware/device_facts.hpp"

namespace kw {

/// The vector register file that a device's vector width implies.
struct VectorRegisters {
  std::int64_t per_float16 = 1;  ///< registers that hold sixteen floats
  std::int64_t count = 32;
};
[[nodiscard]] VectorRegisters vector_registers(const DeviceFacts& device);

}  // namespace kw
