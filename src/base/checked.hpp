#pragma once
// Integer arithmetic on extents and sizes that cannot overflow silently. Every product of extents goes through here.

#include <cstdint>
#include <optional>

namespace kw {

[[nodiscard]] constexpr std::optional<std::int64_t> checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}
[[nodiscard]] constexpr std::optional<std::int64_t> checked_sub(std::int64_t a, std::int64_t b) {
  std::int64_t difference = 0;
  if (__builtin_sub_overflow(a, b, &difference)) return std::nullopt;
  return difference;
}
[[nodiscard]] constexpr std::optional<std::int64_t> checked_mul(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

/// Quotient rounded towards minus infinity, as Python's `//`; b must not be 0, and INT64_MIN / -1 is the caller's to
/// avoid.
[[nodiscard]] constexpr std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  const std::int64_t quotient = a / b;
  return (a % b != 0 && ((a < 0) != (b < 0))) ? quotient - 1 : quotient;
}
/// Remainder with the sign of b, as Python's `%`; b must not be 0.
[[nodiscard]] constexpr std::int64_t floor_mod(std::int64_t a, std::int64_t b) {
  const std::int64_t remainder = a % b;
  return (remainder != 0 && ((remainder < 0) != (b < 0))) ? remainder + b : remainder;
}

}  // namespace kw
