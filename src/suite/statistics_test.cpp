#include "suite/statistics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "base/rng.hpp"

namespace kw {
namespace {

using Speedups = std::vector<std::optional<double>>;

TEST(SuiteStatistics, curve_rises_at_each_time_by_those_solved_then) {
  const auto steps = solved_over_time({3.0, 1.0, 3.0, 2.5});
  ASSERT_EQ(steps.size(), 3U);
  EXPECT_EQ(steps[0].seconds, 1.0);
  EXPECT_EQ(steps[0].solved, 1);
  EXPECT_EQ(steps[1].solved, 2);
  EXPECT_EQ(steps[2].seconds, 3.0);
  EXPECT_EQ(steps[2].solved, 4);
  EXPECT_TRUE(solved_over_time({}).empty());
}

TEST(SuiteStatistics, fast_p_is_a_share_of_all_and_strictly_above) {
  const Speedups speedups = {std::nullopt, 0.5, 1.0, 2.5};
  EXPECT_EQ(fast_p(speedups, 0.0), 0.75);
  EXPECT_EQ(fast_p(speedups, 0.8), 0.5);
  EXPECT_EQ(fast_p(speedups, 1.0), 0.25) << "as fast is not faster";
  EXPECT_EQ(fast_p(speedups, 2.5), 0.0);
  EXPECT_EQ(fast_p({}, 0.0), 0.0);
}

TEST(SuiteStatistics, geometric_mean_leaves_the_unsolved_out) {
  EXPECT_DOUBLE_EQ(geometric_mean(Speedups{4.0, std::nullopt, 1.0}).value(), 2.0);
  EXPECT_FALSE(geometric_mean(Speedups{std::nullopt}));
  EXPECT_FALSE(geometric_mean(Speedups{}));
  EXPECT_FALSE(geometric_mean(Speedups{2.0, 0.0}));
}

TEST(SuiteStatistics, median_counts_the_unsolved_as_never) {
  EXPECT_EQ(median_seconds({5.0, 1.0, 3.0}, 3), 3.0);
  EXPECT_EQ(median_seconds({5.0, 1.0, 3.0}, 5), 5.0);
  EXPECT_EQ(median_seconds({1.0, 2.0}, 2), 1.5);
  EXPECT_EQ(median_seconds({5.0, 1.0}, 4), 5.0) << "half of them, after 5 s";
  EXPECT_FALSE(median_seconds({5.0, 1.0}, 5));
  EXPECT_FALSE(median_seconds({}, 0));
  EXPECT_FALSE(median_seconds({}, 1));
}

/// Against what the words say, on random sets.
TEST(SuiteStatistics, agree_with_their_definitions) {
  const char* const given = std::getenv("KW_TEST_SEED");
  const std::uint64_t seed = given == nullptr ? 11 : std::strtoull(given, nullptr, 10);
  SCOPED_TRACE(fmt::format("KW_TEST_SEED={}", seed));
  Rng rng(seed);
  for (int round = 0; round < 200; ++round) {
    Speedups speedups;
    std::vector<double> seconds;
    for (std::int64_t i = rng.below(12); i >= 0; --i) {
      if (rng.below(3) == 0) {
        speedups.emplace_back();
      } else {
        speedups.emplace_back(0.25 + 3 * rng.uniform());
        seconds.push_back(static_cast<double>(rng.below(6)));
      }
    }
    const auto all = std::ssize(speedups);
    double last = 1;
    for (const double p : k_fast_p_thresholds) {
      const double share = fast_p(speedups, p);
      EXPECT_LE(share, last);
      last = share;
    }
    EXPECT_EQ(fast_p(speedups, 0), static_cast<double>(seconds.size()) / static_cast<double>(all));
    const auto steps = solved_over_time(seconds);
    for (int t = 0; t < 6; ++t) {
      std::int64_t shown = 0;
      for (const auto& step : steps) shown = step.seconds <= t ? step.solved : shown;
      EXPECT_EQ(shown, std::ranges::count_if(seconds, [t](double one) { return one <= t; }));
    }
    const auto median = median_seconds(seconds, all);
    EXPECT_EQ(median.has_value(), 2 * std::ssize(seconds) >= all);
    if (!median) continue;
    const auto sooner = std::ranges::count_if(seconds, [&](double one) { return one < *median; });
    EXPECT_LE(2 * sooner, all);
  }
}

}  // namespace
}  // namespace kw
