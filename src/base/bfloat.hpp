#pragma once
// bfloat16, the storage type bf16: the upper 16 bits of a binary32, so its range with 8 bits of precision. Without help
// from the compiler: neither of ours has it in C++.

#include <bit>
#include <cstdint>

namespace kw {

/// The value of 16 bits; exact, and a NaN keeps its bits.
[[nodiscard]] inline float bfloat_value(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

/// The nearest bfloat16, ties to even, subnormals included; what rounds beyond the largest becomes infinity, NaN stays
/// NaN.
[[nodiscard]] inline std::uint16_t bfloat_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  // Cut off and made quiet: a NaN whose set bits are all in the lower half would be an infinity without them, and
  // rounding could carry another one past the exponent.
  const std::uint32_t quiet = (bits >> 16) | 0x40U;
  const std::uint32_t rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
  return static_cast<std::uint16_t>((bits & 0x7fffffffU) > 0x7f800000U ? quiet : rounded);
}

/// `value` as it is after being stored in a bf16.
[[nodiscard]] inline float rounded_to_bfloat(float value) {
  return bfloat_value(bfloat_bits(value));
}

}  // namespace kw
