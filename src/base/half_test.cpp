#include "base/half.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace kw {
namespace {

TEST(Half, gives_back_each_of_its_values) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float value = half_value(half);
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(rounded_to_half(value))) << bits;
    } else {
      ASSERT_EQ(half_bits(value), half) << bits;
    }
  }
  EXPECT_EQ(half_value(0x3c00), 1.0F);
  EXPECT_EQ(half_value(0x7bff), 65504.0F);
  EXPECT_EQ(half_value(0x8001), -0x1p-24F);
}

/// The definition: of the two neighbours the nearer one, and of two equally near ones the even one.
TEST(Half, rounds_to_the_nearest_and_ties_to_even) {
  for (std::uint32_t bits = 0; bits < 0x7bff; ++bits) {
    const float low = half_value(static_cast<std::uint16_t>(bits));
    const float high = half_value(static_cast<std::uint16_t>(bits + 1));
    const float middle = low + (high - low) / 2.0F;
    ASSERT_EQ(half_bits(middle), bits + (bits & 1U)) << bits;
    ASSERT_EQ(half_bits(std::nextafter(middle, low)), bits) << bits;
    ASSERT_EQ(half_bits(std::nextafter(middle, high)), bits + 1) << bits;
    ASSERT_EQ(half_bits(-std::nextafter(middle, high)), (bits + 1) | 0x8000U) << bits;
  }
  EXPECT_EQ(half_bits(std::nextafter(65520.0F, 0.0F)), 0x7bffU);
  EXPECT_EQ(half_bits(65520.0F), 0x7c00U);
  EXPECT_EQ(half_bits(-1e30F), 0xfc00U);
}

}  // namespace
}  // namespace kw
