#include "loop/model_share.hpp"

#include <gtest/gtest.h>

namespace kw {
namespace {

TEST(ModelShare, is_what_opening_and_final_measurement_leave) {
  EXPECT_DOUBLE_EQ(model_share({100, 20, 10}), 0.7);
  EXPECT_DOUBLE_EQ(model_share({10, 20, 10}), 0);
  EXPECT_DOUBLE_EQ(model_share({0, 0, 0}), 0);
}

TEST(ModelShare, loses_no_more_than_a_third_of_what_is_left_to_the_final_measurement) {
  EXPECT_DOUBLE_EQ(model_share({100, 40, 50}), 0.4);
  EXPECT_EQ(kept_back(from_seconds(6), from_seconds(5)), from_seconds(2));
  EXPECT_EQ(kept_back(from_seconds(60), from_seconds(5)), from_seconds(5));
  EXPECT_EQ(kept_back(from_seconds(-1), from_seconds(5)), Duration::zero());
}

TEST(ModelShare, a_final_measurement_counts_the_data_of_its_launches) {
  EXPECT_EQ(final_reserve(from_seconds(0.1)), from_seconds(3.4));
  EXPECT_EQ(final_reserve(from_seconds(0.1), from_seconds(0.5)), from_seconds(10.4));
  EXPECT_EQ(final_reserve(from_seconds(1), from_seconds(0.5)), from_seconds(5));
}

TEST(ModelShare, a_final_measurement_beside_a_copy_counts_the_launches_alone) {
  EXPECT_EQ(final_reserve(from_seconds(0.1), from_seconds(0.2), true), from_seconds(2 + 14 * 0.3 + 60 * 1.25 * 0.2));
  EXPECT_EQ(final_reserve(from_seconds(0.1), {}, true), final_reserve(from_seconds(0.1)));
}

TEST(ModelShare, two_thirds_are_no_news) {
  EXPECT_FALSE(small_share_warning({90, 20, 9}));
}

TEST(ModelShare, less_is_told_with_the_budget_that_would_do) {
  const auto text = small_share_warning({60, 20, 16});
  ASSERT_TRUE(text);
  EXPECT_EQ(
      *text,
      "the model gets 44 % of the budget, less than two thirds: of 60 s, the device, the oracle and the plain kernel "
      "take 20 s "
      "before it is asked, and the final measurement takes 13 s; give --budget 108s, or make the primary workload "
      "smaller with --set");
  EXPECT_FALSE(small_share_warning({108.5, 20, 16})) << "that budget is enough";
}

}  // namespace
}  // namespace kw
