#include "loop/model_share.hpp"

#include <gtest/gtest.h>

namespace kw {
namespace {

TEST(ModelShare, is_what_opening_and_final_measurement_leave) {
  EXPECT_DOUBLE_EQ(model_share({100, 20, 10}), 0.7);
  EXPECT_DOUBLE_EQ(model_share({10, 20, 10}), 0);
  EXPECT_DOUBLE_EQ(model_share({0, 0, 0}), 0);
}

TEST(ModelShare, two_thirds_are_no_news) {
  EXPECT_FALSE(small_share_warning({90, 20, 9}));
}

TEST(ModelShare, less_is_told_with_the_budget_that_would_do) {
  const auto text = small_share_warning({60, 20, 16});
  ASSERT_TRUE(text);
  EXPECT_EQ(
      *text,
      "the model gets 40 % of the budget, less than two thirds: of 60 s, the device, the oracle and the plain kernel "
      "take 20 s "
      "before it is asked, and the final measurement takes 16 s; give --budget 108s, or make the primary workload "
      "smaller with --set");
  EXPECT_FALSE(small_share_warning({108.5, 20, 16})) << "that budget is enough";
}

}  // namespace
}  // namespace kw
