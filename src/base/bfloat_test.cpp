#include "base/bfloat.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/rng.hpp"

namespace kw {
namespace {

/// The definition in double, where every step of it is exact: to a multiple of the unit of the last place, which is
/// 2^-7 of the power of two below the value, and no less than that of the smallest normal number.
double reference(double value) {
  if (!std::isfinite(value) || value == 0) return value;
  const double unit = std::ldexp(1.0, std::max(std::ilogb(value), -126) - 7);
  const double rounded = std::nearbyint(value / unit) * unit;  // ties to even
  const double beyond = 0x1p128;
  return std::fabs(rounded) >= beyond ? std::copysign(std::numeric_limits<double>::infinity(), value) : rounded;
}

TEST(Bfloat, gives_back_each_of_its_values) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto bfloat = static_cast<std::uint16_t>(bits);
    const float value = bfloat_value(bfloat);
    ASSERT_EQ(std::isnan(value), (bits & 0x7fffU) > 0x7f80U) << bits;
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(rounded_to_bfloat(value))) << bits;
      ASSERT_EQ(std::signbit(rounded_to_bfloat(value)), (bits & 0x8000U) != 0) << bits;
    } else {
      ASSERT_EQ(bfloat_bits(value), bfloat) << bits;
      ASSERT_EQ(reference(static_cast<double>(value)), static_cast<double>(value)) << bits;
    }
  }
  EXPECT_EQ(bfloat_value(0x3f80), 1.0F);
  EXPECT_EQ(bfloat_value(0x7f7f), 0x1.fep127F);
  EXPECT_EQ(bfloat_value(0x8001), -0x1p-133F);
}

/// The definition: of the two neighbours the nearer one, and of two equally near ones the even one.
TEST(Bfloat, rounds_to_the_nearest_and_ties_to_even) {
  for (std::uint32_t bits = 0; bits < 0x7f7f; ++bits) {
    const float low = bfloat_value(static_cast<std::uint16_t>(bits));
    const float high = bfloat_value(static_cast<std::uint16_t>(bits + 1));
    const float middle = low + (high - low) / 2.0F;
    ASSERT_EQ(bfloat_bits(middle), bits + (bits & 1U)) << bits;
    ASSERT_EQ(bfloat_bits(std::nextafter(middle, low)), bits) << bits;
    ASSERT_EQ(bfloat_bits(std::nextafter(middle, high)), bits + 1) << bits;
    ASSERT_EQ(bfloat_bits(-std::nextafter(middle, high)), (bits + 1) | 0x8000U) << bits;
  }
  EXPECT_EQ(bfloat_bits(std::nextafter(0x1.ffp127F, 0.0F)), 0x7f7fU);
  EXPECT_EQ(bfloat_bits(0x1.ffp127F), 0x7f80U) << "halfway between the largest and the next";
  EXPECT_EQ(bfloat_bits(-std::numeric_limits<float>::max()), 0xff80U);
}

TEST(Bfloat, rounds_floats_of_any_bits_as_double_arithmetic_does) {
  constexpr std::uint64_t k_seed = 20;
  Rng rng(k_seed);
  for (int i = 0; i < 1000000; ++i) {
    const auto bits = static_cast<std::uint32_t>(rng.next());
    const auto value = std::bit_cast<float>(bits);
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(rounded_to_bfloat(value))) << "bits " << bits << ", seed " << k_seed;
    } else {
      const double expected = reference(static_cast<double>(value));
      ASSERT_EQ(static_cast<double>(rounded_to_bfloat(value)), expected) << "bits " << bits << ", seed " << k_seed;
    }
  }
}

TEST(Bfloat, keeps_a_nan_whose_set_bits_are_all_cut_off) {
  for (const std::uint32_t bits : {0x7f800001U, 0xff80ffffU, 0x7fffffffU, 0xffffffffU}) {
    EXPECT_TRUE(std::isnan(rounded_to_bfloat(std::bit_cast<float>(bits)))) << bits;
  }
}

}  // namespace
}  // namespace kw
