#include "base/normal.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace kw {
namespace {

std::vector<float> drawn(std::size_t count, std::uint64_t seed) {
  std::vector<float> values(count);
  fill_normal(values, seed);
  return values;
}

/// The greatest distance between the shares of the numbers and of the distribution (Kolmogorov and Smirnov).
double greatest_distance(std::vector<float> values) {
  std::sort(values.begin(), values.end());
  double greatest = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double wanted = 0.5 * std::erfc(-static_cast<double>(values[i]) / std::sqrt(2.0));
    const double share = static_cast<double>(i) / static_cast<double>(values.size());
    greatest = std::max(greatest, std::abs(share - wanted));
  }
  return greatest;
}

TEST(FillNormal, has_the_normal_distribution) {
  constexpr std::size_t k_count = 1'000'000;
  // 1.95 / sqrt(n) is exceeded once in a thousand samples.
  EXPECT_LT(greatest_distance(drawn(k_count, 7)), 1.95e-3);
}

TEST(FillNormal, has_tails_without_an_end) {
  const auto values = drawn(4'000'000, 11);
  const auto beyond = [&](float edge) {
    return std::count_if(values.begin(), values.end(), [&](float value) { return std::abs(value) > edge; });
  };
  // Of four million 253 lie beyond 4, give or take 16, and 2.3 beyond 5.
  EXPECT_NEAR(static_cast<double>(beyond(4.0F)), 253.0, 64.0);
  EXPECT_GT(beyond(4.5F), 5);
  EXPECT_LT(beyond(6.0F), 2);
}

TEST(FillNormal, gives_independent_neighbours) {
  const auto values = drawn(1'000'000, 13);
  for (const std::size_t distance : {1U, 2U, 3U, 64U}) {
    double products = 0;
    double squares = 0;
    for (std::size_t i = distance; i < values.size(); ++i) {
      const auto here = static_cast<double>(values[i]);
      const auto there = static_cast<double>(values[i - distance]);
      products += here * there;
      squares += (here * here - 1) * (there * there - 1) / 2;
    }
    EXPECT_LT(std::abs(products), 4000.0) << distance;  // four standard deviations
    EXPECT_LT(std::abs(squares), 4000.0) << distance;
  }
}

TEST(FillNormal, repeats_itself_for_a_key_and_never_otherwise) {
  EXPECT_EQ(drawn(1001, 5), drawn(1001, 5));
  EXPECT_NE(drawn(1001, 5), drawn(1001, 6));
}

TEST(FillNormal, draws_any_part_of_a_sequence_by_itself) {
  const auto whole = drawn(100'000, 17);
  for (const auto& [first, count] :
       {std::pair{0U, 1U}, {1U, 1U}, {1U, 2U}, {6U, 0U}, {7U, 4093U}, {50'000U, 50'000U}}) {
    std::vector<float> part(count);
    fill_normal(part, 17, first);
    EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + first)) << first << ' ' << count;
  }
}

/// Cells are next to each other, and each is as likely as its neighbour.
TEST(FillNormal, has_cells_without_gaps_up_to_its_end) {
  const NormalTables& tables = normal_tables();
  const auto meets = [](const NormalCell& one, const NormalCell& next) {
    return std::abs(one.low + one.width - next.low) <= 1e-6F * std::abs(next.low) + 1e-9F;
  };
  for (std::size_t i = 1; i + 2 < k_normal_cells; ++i) EXPECT_TRUE(meets(tables.all[i], tables.all[i + 1])) << i;
  for (std::size_t i = 0; i + 1 < k_normal_cells; ++i) {
    EXPECT_TRUE(meets(tables.tail[i], tables.tail[i + 1])) << i;
    EXPECT_TRUE(meets(tables.far[i], tables.far[i + 1])) << i;
  }
  EXPECT_TRUE(meets(tables.all[k_normal_cells - 2], tables.tail.front()));
  EXPECT_TRUE(meets(tables.tail[k_normal_cells - 2], tables.far.front()));
  EXPECT_NEAR(tables.tail.front().low, 3.4871, 1e-3);  // quantile of 1 - 2^-12, as tables have it
  EXPECT_NEAR(tables.far.front().low, 5.2947, 1e-3);   // of 1 - 2^-24
  EXPECT_NEAR(tables.far.back().low, 6.6510, 1e-3);    // of 1 - 2^-36
}

}  // namespace
}  // namespace kw
