#pragma once
// IEEE 754 binary16, the storage type f16, without help from the compiler: neither of ours has it in C++.

#include <bit>
#include <cstdint>
#include <limits>

namespace kw {

/// a where c, else b; without a branch even where a floating-point operation made one of them, so that loops over it
/// are vector code.
[[nodiscard]] inline std::uint32_t either(bool c, std::uint32_t a, std::uint32_t b) {
  const std::uint32_t mask = 0U - static_cast<std::uint32_t>(c);
  return (a & mask) | (b & ~mask);
}

/// The value of 16 bits; exact.
[[nodiscard]] inline float half_value(std::uint16_t bits) {
  const std::uint32_t size = (bits & 0x7fffU) << 13;
  // Of subnormals too: the exponents of the two types differ by 112.
  const auto finite = std::bit_cast<std::uint32_t>(std::bit_cast<float>(size) * 0x1p112F);
  const std::uint32_t magnitude = either(size < 0x0f800000U, finite, size | 0x7f800000U);
  return std::bit_cast<float>(magnitude | static_cast<std::uint32_t>(bits & 0x8000U) << 16);
}

/// The nearest half, ties to even; beyond 65504 infinity, NaN stays NaN.
[[nodiscard]] inline std::uint16_t half_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000U;
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  // Below 2^-14 the result is subnormal, in steps of 2^-24: the addition rounds to a multiple of that, which is the
  // unit in the last place of 0.5.
  const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) - 0x3f000000U;
  const std::uint32_t normal = (magnitude - 0x38000000U + 0xfffU + ((magnitude >> 13) & 1U)) >> 13;
  std::uint32_t half = either(magnitude < 0x38800000U, subnormal, normal);
  half = either(magnitude >= 0x477ff000U, 0x7c00U, half);  // 65520: halfway between the largest half and the next
  half = either(magnitude > 0x7f800000U, 0x7e00U, half);
  return static_cast<std::uint16_t>(sign | half);
}

/// `value` as it is after being stored in an f16.
[[nodiscard]] inline float rounded_to_half(float value) {
  // As half_bits() rounds; the bits of a half need not be made for it.
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  const auto subnormal = std::bit_cast<std::uint32_t>((std::bit_cast<float>(magnitude) + 0.5F) - 0.5F);
  const std::uint32_t normal = (magnitude + 0xfffU + ((magnitude >> 13) & 1U)) & ~0x1fffU;
  std::uint32_t rounded = either(magnitude < 0x38800000U, subnormal, normal);
  rounded = either(magnitude >= 0x477ff000U, 0x7f800000U, rounded);
  rounded = either(magnitude > 0x7f800000U, 0x7fc00000U, rounded);
  return std::bit_cast<float>((bits & 0x80000000U) | rounded);
}

}  // namespace kw
