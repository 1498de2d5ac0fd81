#include "propose/llm/prompts/goal_text.hpp"

#include <gtest/gtest.h>

namespace kw {
namespace {

TEST(GoalText, asks_for_a_tenth_more_speed) {
  EXPECT_EQ(goal_text({"the best kernel so far", 19.7e6}, std::nullopt),
            "at least 10 % faster than the best kernel so far, which takes 19.7 ms: 17.9 ms or less.");
  EXPECT_EQ(
      goal_text({"the best kernel so far", 19.7e6}, 4.1e6),
      "at least 10 % faster than the best kernel so far, which takes 19.7 ms: 17.9 ms or less. The least that the "
      "device's peaks allow is 4.1 ms.");
}

TEST(GoalText, asks_for_no_more_than_the_device_can_do) {
  EXPECT_EQ(goal_text({"the best kernel so far", 4.3e6}, 4.1e6),
            "as near to 4.1 ms as you can, which is the least that the device's peaks allow; the best kernel so far "
            "takes 4.3 ms.");
}

TEST(GoalText, names_no_time_where_the_bound_is_no_guide) {
  EXPECT_EQ(goal_text({"the best kernel so far", 4.0e6}, 4.1e6),
            "faster than the best kernel so far, which takes 4 ms, by more than 2 %, so that pairs can show it. It is "
            "beyond the bound that was computed from the peaks, so no time is named.");
}

TEST(GoalText, is_empty_where_nothing_was_timed) {
  EXPECT_EQ(goal_text({"the plain kernel", 0}, 4.1e6), "");
}

}  // namespace
}  // namespace kw
