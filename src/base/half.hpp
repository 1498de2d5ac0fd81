#pragma once
// IEEE 754 binary16, the storage type f16, without help from the compiler: neither of ours has it in C++.

#include <bit>
#include <cstdint>
#include <limits>

namespace kw {

/// The value of 16 bits; exact.
[[nodiscard]] inline float half_value(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int fraction = bits & 0x3ff;
  float magnitude = 0.0F;
  if (exponent == 31) {
    magnitude = fraction == 0 ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
  } else if (exponent == 0) {
    magnitude = static_cast<float>(fraction) * 0x1p-24F;
  } else {
    magnitude = std::bit_cast<float>((exponent + 112) << 23 | fraction << 13);
  }
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

/// The nearest half, ties to even; beyond 65504 infinity, NaN stays NaN.
[[nodiscard]] inline std::uint16_t half_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000U);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  if (magnitude > 0x7f800000U) return sign | 0x7e00U;
  if (magnitude >= 0x477ff000U) return sign | 0x7c00U;  // 65520: halfway between the largest half and the next
  if (magnitude < 0x38800000U) {                        // 2^-14: the result is subnormal, in steps of 2^-24
    // The addition rounds to a multiple of 2^-24, which is the unit in the last place of 0.5.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000U));
  }
  const std::uint32_t odd = (magnitude >> 13) & 1U;
  return static_cast<std::uint16_t>(sign | ((magnitude - 0x38000000U + 0xfffU + odd) >> 13));
}

/// `value` as it is after being stored in an f16.
[[nodiscard]] inline float rounded_to_half(float value) {
  return half_value(half_bits(value));
}

}  // namespace kw
