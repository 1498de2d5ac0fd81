#include "loop/budget.hpp"

#include <gtest/gtest.h>

namespace kw {
namespace {

TEST(Budget, reads_every_unit_and_prints_it_back) {
  EXPECT_EQ(to_string(parse_budget("60s").value()), "60s");
  EXPECT_EQ(to_string(parse_budget("15m").value()), "900s");
  EXPECT_EQ(to_string(parse_budget("2h,500c").value()), "7200s,500c");
  EXPECT_EQ(to_string(parse_budget("1.5s,3ds,1000t,0.5usd").value()), "1.5s,3ds,1000t,0.5usd");
  EXPECT_EQ(to_string(BudgetLimits{}), "no limit");
}

TEST(Budget, refuses_what_it_cannot_read_by_name) {
  for (const auto& [text, message] :
       std::vector<std::pair<std::string, std::string>>{{"", "\"\" is not a positive amount with a unit"},
                                                        {"soon", "\"soon\" is not a positive amount with a unit"},
                                                        {"-3s", "\"-3s\" is not a positive amount with a unit"},
                                                        {"0c", "\"0c\" is not a positive amount with a unit"},
                                                        {"infs", "\"infs\" is not a positive amount with a unit"},
                                                        {"60", "\"60\" has no unit that a budget knows"},
                                                        {"1.5c", "\"1.5c\" has no unit that a budget knows"},
                                                        {"60s,", "\"\" is not a positive amount with a unit"},
                                                        {"60s,1m", "the budget says 1m twice"},
                                                        {"1e30c", "1e30c is too large"}}) {
    const auto parsed = parse_budget(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, errc::budget_syntax) << text;
    EXPECT_EQ(parsed.error().message, message);
    EXPECT_FALSE(parsed.error().hint.empty());
  }
}

TEST(Budget, ends_with_whichever_part_ends_first) {
  FakeClock clock;
  Budget budget(parse_budget("60s,2c").value(), {}, clock);
  EXPECT_FALSE(budget.exhausted());
  budget.count_candidate();
  clock.advance(std::chrono::seconds(30));
  EXPECT_FALSE(budget.exhausted());
  EXPECT_TRUE(budget.exhausted(std::chrono::seconds(30)));
  clock.advance(std::chrono::seconds(30));
  EXPECT_TRUE(budget.exhausted());
  Budget other(parse_budget("60s,2c").value(), {}, clock);
  other.count_candidate();
  other.count_candidate();
  EXPECT_TRUE(other.exhausted());
}

TEST(Budget, goes_on_where_the_earlier_part_stopped) {
  FakeClock clock;
  BudgetUse already;
  already.wall_seconds = 50;
  already.candidates = 7;
  Budget budget(parse_budget("60s").value(), already, clock);
  clock.advance(std::chrono::seconds(9));
  EXPECT_FALSE(budget.exhausted());
  EXPECT_DOUBLE_EQ(budget.used().wall_seconds, 59);
  EXPECT_EQ(budget.used().candidates, 7);
  clock.advance(std::chrono::seconds(1));
  EXPECT_TRUE(budget.exhausted());
}

}  // namespace
}  // namespace kw
