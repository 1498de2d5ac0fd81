#include "suite/budget_shares.hpp"

#include <gtest/gtest.h>

namespace kw {
namespace {

BudgetLimits limits(const char* text) {
  return parse_budget(text).value();
}

TEST(BudgetShares, divide_what_is_left_among_those_that_wait) {
  BudgetUse used;
  used.wall_seconds = 20;
  used.candidates = 10;
  const auto share = budget_share({}, limits("100s,40c"), used, 10, 1);
  EXPECT_DOUBLE_EQ(share.wall_seconds.value(), 8.0);
  EXPECT_EQ(share.candidates, 3);
  EXPECT_FALSE(share.tokens);
}

TEST(BudgetShares, give_wall_clock_by_turns_of_all_devices) {
  const auto share = budget_share({}, limits("100s,40c"), {}, 10, 4);
  EXPECT_DOUBLE_EQ(share.wall_seconds.value(), 100.0 / 3) << "4, 4 and 2 at a time";
  EXPECT_EQ(share.candidates, 4);
}

TEST(BudgetShares, take_the_less_of_both_limits) {
  EXPECT_DOUBLE_EQ(budget_share(limits("5s"), limits("100s"), {}, 4, 1).wall_seconds.value(), 5.0);
  EXPECT_DOUBLE_EQ(budget_share(limits("50s"), limits("100s"), {}, 4, 1).wall_seconds.value(), 25.0);
  EXPECT_DOUBLE_EQ(budget_share(limits("5s"), {}, {}, 4, 1).wall_seconds.value(), 5.0);
}

TEST(BudgetShares, never_are_nothing_and_end_when_it_is_used_up) {
  BudgetUse used;
  used.candidates = 50;
  EXPECT_EQ(budget_share({}, limits("40c"), used, 3, 1).candidates, 1);
  EXPECT_TRUE(is_used_up(limits("40c"), used));
  EXPECT_FALSE(is_used_up(limits("60c"), used));
  EXPECT_FALSE(is_used_up({}, used));
}

}  // namespace
}  // namespace kw
