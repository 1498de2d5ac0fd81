#include "hardware/vector_registers.hpp"

#include <algorithm>

namespace kw {

VectorRegisters vector_registers(const DeviceFacts& device) {
  const std::int64_t floats = std::clamp<std::int64_t>(device.vector_floats, 4, 16);
  return {16 / floats, floats >= 16 ? 32 : 16};
}

}  // namespace kw
