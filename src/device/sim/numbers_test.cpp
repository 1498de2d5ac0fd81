// The number formats against references that search for the nearest value instead of computing it.

#include "device/sim/runtime/numbers.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "base/rng.hpp"

namespace kw {
namespace {

using kw_sim::Rounding;
using kw_sim::SmallFormat;

float widen(std::uint16_t bits, const SmallFormat& format) {
  return format.exponent_bits == 5 ? kw_sim::widen_half(bits) : kw_sim::widen_bfloat16(bits);
}

std::uint16_t infinity_of(const SmallFormat& format) {
  return static_cast<std::uint16_t>(((1U << format.exponent_bits) - 1U) << format.fraction_bits);
}

/// The largest value of the format that is not above `x`, for finite x >= 0, by bisection over the bit patterns.
std::uint16_t below(double x, const SmallFormat& format) {
  std::uint16_t low = 0;
  std::uint16_t high = infinity_of(format);
  while (high - low > 1) {
    const auto middle = static_cast<std::uint16_t>((low + high) / 2);
    (static_cast<double>(widen(middle, format)) <= x ? low : high) = middle;
  }
  return low;
}

/// What the value above the largest finite one would be if exponents went on.
double value_after(std::uint16_t low, const SmallFormat& format) {
  const auto next = static_cast<std::uint16_t>(low + 1);
  if (next != infinity_of(format)) return static_cast<double>(widen(next, format));
  const double last = static_cast<double>(widen(low, format));
  return last + (last - static_cast<double>(widen(static_cast<std::uint16_t>(low - 1), format)));
}

std::uint16_t reference(double x, const SmallFormat& format, Rounding rounding) {
  const bool negative = std::signbit(x);
  const double size = std::abs(x);
  const std::uint16_t low = below(size, format);
  const auto sign = static_cast<std::uint16_t>(negative ? 0x8000 : 0);
  const double down = size - static_cast<double>(widen(low, format));
  const double up = value_after(low, format) - size;
  bool away = false;
  if (rounding == Rounding::nearest_even) away = down > up || (down == up && (low & 1) != 0);
  if (rounding == Rounding::up) away = down > 0 && !negative;
  if (rounding == Rounding::down) away = down > 0 && negative;
  return static_cast<std::uint16_t>(sign | (low + (away ? 1 : 0)));
}

/// Values of every size that matters: random bits of a float, and halfway cases.
double random_value(Rng& rng, const SmallFormat& format) {
  const auto bits = static_cast<std::uint32_t>(rng.next());
  const double value = static_cast<double>(kw_sim::float_of(bits));
  if (bits % 3 == 0) return value;
  const auto small = static_cast<std::uint16_t>((bits >> 8) % infinity_of(format));
  const double low = static_cast<double>(widen(small, format));
  const double middle = low + (value_after(small, format) - low) / 2;
  return (bits & 0x80U) != 0 ? -middle : middle;
}

class SmallFormatTest : public ::testing::TestWithParam<SmallFormat> {};
INSTANTIATE_TEST_SUITE_P(Formats, SmallFormatTest, ::testing::Values(kw_sim::k_half, kw_sim::k_bfloat16),
                         [](const auto& format) { return format.param.exponent_bits == 5 ? "half" : "bfloat16"; });

TEST_P(SmallFormatTest, every_value_survives_widening_and_narrowing) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const float wide = widen(static_cast<std::uint16_t>(bits), GetParam());
    const unsigned back = kw_sim::narrow(static_cast<double>(wide), GetParam(), Rounding::nearest_even);
    EXPECT_EQ(back, std::isnan(wide) ? 0x7fffU : bits);
  }
}

TEST_P(SmallFormatTest, rounds_as_the_search_for_the_nearest_value_does) {
  const std::uint64_t seed = 20261120;
  SCOPED_TRACE(fmt::format("seed {}", seed));
  Rng rng(seed);
  for (int i = 0; i < 200'000; ++i) {
    const double value = random_value(rng, GetParam());
    if (!std::isfinite(value)) continue;
    for (const Rounding rounding : {Rounding::nearest_even, Rounding::toward_zero, Rounding::up, Rounding::down}) {
      ASSERT_EQ(kw_sim::narrow(value, GetParam(), rounding), reference(value, GetParam(), rounding)) << value;
    }
  }
}

TEST_P(SmallFormatTest, infinities_and_what_lies_beyond_the_largest_value) {
  const double infinity = std::numeric_limits<double>::infinity();
  const unsigned bits = infinity_of(GetParam());
  EXPECT_EQ(kw_sim::narrow(infinity, GetParam(), Rounding::toward_zero), bits);
  EXPECT_EQ(kw_sim::narrow(-infinity, GetParam(), Rounding::nearest_even), bits | 0x8000U);
  EXPECT_EQ(kw_sim::narrow(1e300, GetParam(), Rounding::nearest_even), bits);
  EXPECT_EQ(kw_sim::narrow(1e300, GetParam(), Rounding::toward_zero), bits - 1);
  EXPECT_EQ(kw_sim::narrow(-1e300, GetParam(), Rounding::down), bits | 0x8000U);
}

__extension__ using Wide = __int128;

/// A half as a whole number of 2^-24.
Wide scaled(std::uint16_t bits) {
  return static_cast<Wide>(std::ldexp(static_cast<double>(kw_sim::widen_half(bits)), 24));
}

TEST(Numbers, fused_multiply_add_of_halves_rounds_the_exact_sum_once) {
  const std::uint64_t seed = 7;
  SCOPED_TRACE(fmt::format("seed {}", seed));
  Rng rng(seed);
  int ties = 0;
  for (int i = 0; i < 300'000; ++i) {
    std::uint16_t operand[3];
    for (auto& one : operand) one = static_cast<std::uint16_t>(rng.next() % 0x7c00 | (rng.next() & 1) << 15);
    // A sum that lies just beside the middle between two halves is what rounding twice gets wrong.
    if (i % 2 == 0) operand[0] = static_cast<std::uint16_t>(rng.next() % 64);
    const Wide exact = scaled(operand[0]) * scaled(operand[1]) + (scaled(operand[2]) << 24);  // in units of 2^-48
    const unsigned got = kw_sim::fused(kw_sim::widen_half(operand[0]), kw_sim::widen_half(operand[1]),
                                       kw_sim::widen_half(operand[2]), kw_sim::k_half);
    if ((got & 0x7fffU) >= 0x7bffU) continue;  // overflow is tested above
    const auto magnitude = static_cast<std::uint16_t>(got & 0x7fffU);
    const Wide size = exact < 0 ? -exact : exact;
    const auto distance = [&](std::uint16_t bits) {
      const Wide away = size - (scaled(bits) << 24);
      return away < 0 ? -away : away;
    };
    const Wide here = distance(magnitude);
    const Wide above = distance(static_cast<std::uint16_t>(magnitude + 1));
    ASSERT_LE(here, above) << operand[0] << " " << operand[1] << " " << operand[2];
    if (here == above) {
      ASSERT_EQ(magnitude & 1, 0);
      ++ties;
    }
    if (magnitude == 0) continue;
    const Wide under = distance(static_cast<std::uint16_t>(magnitude - 1));
    ASSERT_LE(here, under);
    if (here == under) {
      ASSERT_EQ(magnitude & 1, 0);
    }
  }
  EXPECT_GT(ties, 0);
}

TEST(Numbers, tf32_keeps_ten_bits_and_rounds_halves_away_from_zero) {
  EXPECT_EQ(kw_sim::bits_of(kw_sim::round_to_tf32(kw_sim::float_of(0x3f801000))), 0x3f802000U);
  EXPECT_EQ(kw_sim::bits_of(kw_sim::round_to_tf32(kw_sim::float_of(0xbf801000))), 0xbf802000U);
  EXPECT_EQ(kw_sim::bits_of(kw_sim::round_to_tf32(kw_sim::float_of(0x3f800fff))), 0x3f800000U);
  EXPECT_EQ(kw_sim::bits_of(kw_sim::round_to_tf32(kw_sim::float_of(0x7f7fffff))), 0x7f800000U);
  EXPECT_TRUE(std::isnan(kw_sim::round_to_tf32(std::nanf(""))));
  EXPECT_EQ(kw_sim::bits_of(kw_sim::read_as_tf32(0x3f801fff)), 0x3f800000U) << "a tensor core cuts what is not rounded";
}

}  // namespace
}  // namespace kw
