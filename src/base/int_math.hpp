#pragma once
// Whole-number arithmetic on sizes.

#include <cstdint>

namespace kw {

/// For a >= 0 and b > 0.
[[nodiscard]] constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}
[[nodiscard]] constexpr std::int64_t round_up(std::int64_t a, std::int64_t to) {
  return ceil_div(a, to) * to;
}

}  // namespace kw
