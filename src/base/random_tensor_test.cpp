#include "base/random_tensor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/normal.hpp"

namespace kw {
namespace {

using Numbers = DrawRule::Numbers;
using RowScales = DrawRule::RowScales;

std::vector<float> drawn(const RandomTensor& tensor, std::size_t count, std::uint64_t first = 0) {
  std::vector<float> values(count);
  fill_random(values, tensor, first);
  return values;
}

std::vector<float> normal_numbers(std::size_t count, std::uint64_t key) {
  std::vector<float> values(count);
  fill_normal(values, key);
  return values;
}

TEST(RandomTensor, is_made_of_normal_numbers) {
  EXPECT_EQ(drawn({{}, 7, 10, 3}, 60), normal_numbers(60, 7));
  EXPECT_NE(drawn({{}, 8, 10, 3}, 60), normal_numbers(60, 7));
}

TEST(RandomTensor, is_uniform_from_0_to_1) {
  constexpr std::size_t k_count = 1'000'000;
  auto values = drawn({{.numbers = Numbers::uniform}, 7}, k_count);
  double products = 0;
  for (std::size_t i = 1; i < k_count; ++i) {
    products += (static_cast<double>(values[i]) - 0.5) * (static_cast<double>(values[i - 1]) - 0.5);
  }
  EXPECT_LT(std::abs(products), 4.0 / 12 * 1000) << "neighbours are independent: four standard deviations";
  std::sort(values.begin(), values.end());
  EXPECT_GE(values.front(), 0.0F);
  EXPECT_LT(values.back(), 1.0F);
  for (std::size_t i = 0; i < k_count; ++i) {
    // 1.95 / sqrt(n) is exceeded once in a thousand samples.
    ASSERT_NEAR(static_cast<double>(values[i]), static_cast<double>(i) / k_count, 1.95e-3) << i;
  }
}

TEST(RandomTensor, is_scaled_and_shifted) {
  const auto numbers = normal_numbers(60, 7);
  const auto values = drawn({{.scale = 3, .shift = -1, .late_shift = -1}, 7, 10, 3}, 60);
  for (std::size_t i = 0; i < 60; ++i) EXPECT_EQ(values[i], numbers[i] * 3 - 1) << i;
}

TEST(RandomTensor, has_late_rows_moved_otherwise) {
  const auto shift = [](std::int64_t sequence, std::uint64_t row) {
    return shift_of_row({{.shift = 1, .late_shift = 2}, 7, 10, sequence}, row);
  };
  EXPECT_EQ(shift(1, 0), 2.0F);
  EXPECT_EQ(shift(3, 1), 1.0F) << "the middle one";
  EXPECT_EQ(shift(3, 2), 2.0F);
  EXPECT_EQ(shift(4, 1), 1.0F);
  EXPECT_EQ(shift(4, 2), 2.0F);
  EXPECT_EQ(shift(4, 4), 1.0F) << "the first of the next sequence";
}

TEST(RandomTensor, grows_along_the_sequence) {
  const auto scale = [](std::int64_t sequence, std::uint64_t row) {
    return scale_of_row({{.rows = RowScales::growing, .scale = 2}, 7, 10, sequence}, row);
  };
  EXPECT_EQ(scale(1, 0), 8.0F);
  EXPECT_EQ(scale(9, 0), 0.5F);
  EXPECT_EQ(scale(9, 1), 0.75F);
  EXPECT_EQ(scale(9, 2), 1.0F);
  EXPECT_EQ(scale(9, 7), 6.0F);
  EXPECT_EQ(scale(9, 8), 8.0F);
  EXPECT_EQ(scale(9, 9), 0.5F) << "the first of the next sequence";
  for (std::uint64_t row = 1; row < 4096; ++row) {
    const double place = static_cast<double>(row) / 4095;
    ASSERT_GT(scale(4096, row), scale(4096, row - 1)) << row;
    ASSERT_NEAR(scale(4096, row) / std::exp2(4 * place - 1), 1.031, 0.0315) << row;
  }
}

TEST(RandomTensor, has_spikes_in_one_row_of_32) {
  const RandomTensor tensor{{.rows = RowScales::spikes}, 7, 4, 100};
  int spikes = 0;
  for (std::uint64_t row = 0; row < 100'000; ++row) {
    const float scale = scale_of_row(tensor, row);
    ASSERT_TRUE(scale == 1.0F || scale == 6.0F) << scale;
    spikes += scale == 6.0F ? 1 : 0;
  }
  EXPECT_NEAR(spikes, 3125, 4 * 55) << "four standard deviations";
}

/// Whatever the part begins in the middle of.
TEST(RandomTensor, is_the_same_in_parts) {
  for (const auto numbers : {Numbers::normal, Numbers::uniform}) {
    for (const auto rows : {RowScales::alike, RowScales::spikes, RowScales::growing}) {
      const RandomTensor tensor{{numbers, rows, 1.5F, 0.25F, -0.25F}, 11, 7, 5};
      const auto whole = drawn(tensor, 700);
      for (const std::size_t first : {0U, 1U, 6U, 7U, 13U, 34U, 35U}) {
        for (const std::size_t count : {1U, 2U, 7U, 50U}) {
          const std::vector<float> wanted(whole.begin() + static_cast<std::ptrdiff_t>(first),
                                          whole.begin() + static_cast<std::ptrdiff_t>(first + count));
          EXPECT_EQ(drawn(tensor, count, first), wanted) << first << " " << count;
        }
      }
    }
  }
}

}  // namespace
}  // namespace kw
