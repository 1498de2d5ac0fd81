// In the model's seat: the figure that a prompt asks for next.
#include <gmock/gmock.h>

#include "propose/testing/model_seat.hpp"

namespace kw {
namespace {

using testing::HasSubstr;
using testing::Not;

class GoalTest : public ModelSeat {};

TEST_F(GoalTest, starts_from_the_plain_kernel_and_then_from_the_best) {
  EXPECT_THAT(told(), HasSubstr("To reach: at least 10 % faster than the plain kernel, which takes 60 ms: 54.5 ms or "
                                "less."));
  turn("O[0] = 1;", timed(19.7));
  EXPECT_THAT(told(), HasSubstr("To reach: at least 10 % faster than the best kernel so far, which takes 19.7 ms: 17.9 "
                                "ms or less."));
}

TEST_F(GoalTest, follows_the_pairs_and_not_the_lower_median) {
  turn("O[0] = 1;", timed(10));
  turn("O[0] = 2;", timed(9.5, 1.0, Comparison::equivalent));
  EXPECT_THAT(told(), HasSubstr("which takes 10 ms: 9.09 ms or less."));
}

TEST_F(GoalTest, is_not_spoken_of_while_a_kernel_is_wrong) {
  turn("O[0] = 1;", timed(10));
  turn("O[0] = 2;", refused(GateId::check, Reason::wrong_result, "O is wrong"));
  EXPECT_THAT(told(), Not(HasSubstr("To reach:")));
  EXPECT_FALSE(say("no kernel today"));
  EXPECT_THAT(told(), Not(HasSubstr("To reach:")));
}

TEST_F(GoalTest, is_repeated_after_an_answer_without_a_kernel) {
  turn("O[0] = 1;", timed(10));
  EXPECT_FALSE(say("no kernel today"));
  EXPECT_THAT(told(), HasSubstr("To reach: at least 10 % faster than the best kernel so far"));
}

TEST_F(GoalTest, of_a_chain_that_begins_anew_starts_from_the_runs_best) {
  turn("O[0] = 1;", timed(10));
  for (int i = 0; i < 7 && turns_.back().purpose != "restart 1"; ++i) {
    turn("O[0] = 2 + " + std::to_string(i) + ";", timed(20, 0.5, Comparison::slower));
  }
  EXPECT_EQ(turns_.back().purpose, "restart 1");
  const auto& restart = turns_.back().request.messages.at(1).text;
  EXPECT_THAT(restart, HasSubstr("than the best kernel so far, which takes 10 ms: 9.09 ms or less."));
}

}  // namespace
}  // namespace kw
