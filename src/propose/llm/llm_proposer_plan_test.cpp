// In the model's seat: a plan that was asked for.
#include <gmock/gmock.h>

#include "propose/testing/model_seat.hpp"

namespace kw {
namespace {

using testing::HasSubstr;
using testing::Not;

class PlanTest : public ModelSeat {};

TEST_F(PlanTest, that_is_missing_is_a_fault_and_is_asked_for_again) {
  options_.plan = true;
  EXPECT_THAT(told(), HasSubstr("under a line `# Plan`"));
  EXPECT_FALSE(say(answer("O[0] = 1;")));
  EXPECT_EQ(turns_.back().fault, ReplyFault::no_plan);
  EXPECT_EQ(turns_.back().fault_message, "a plan was asked for before the code, and the answer has none");
  EXPECT_THAT(told(), HasSubstr("The answer has no plan."));
  EXPECT_THAT(told(), HasSubstr("O[0] = 1;")) << "the kernel is not lost";
  const std::string form = told().substr(told().find("# Your answer"));
  EXPECT_THAT(form, HasSubstr("under a line `# Plan`"));
  const auto planned = say("# Plan\n\n1. one pass\n\n" + answer("O[0] = 1;"));
  ASSERT_TRUE(planned) << turns_.back().fault_message;
  (void)judge(*planned, timed(10));
  EXPECT_THAT(told(), Not(HasSubstr("under a line `# Plan`"))) << "once is enough";
}

TEST_F(PlanTest, that_was_not_asked_for_is_not_missed) {
  turn("O[0] = 1;", timed(10));
  EXPECT_EQ(turns_.back().fault, ReplyFault::none);
}

}  // namespace
}  // namespace kw
