// In the model's seat on a device without times: a cost model says which kernel is the best.
#include <gmock/gmock.h>

#include "propose/testing/model_seat.hpp"

namespace kw {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// Right, and ranked before all others or not.
Judgement ranked(bool best) {
  return [=](Attempt& attempt) { attempt.became_best = best; };
}

class UntimedTest : public ModelSeat {
 protected:
  void SetUp() override { device_.kind = DeviceKind::simulator; }
};

TEST_F(UntimedTest, the_best_kernel_is_in_the_prompt_after_a_wrong_one) {
  turn("O[0] = 1;", ranked(true));
  turn("O[0] = 2;", refused(GateId::check, Reason::wrong_result, "workload ragged: O is wrong"));
  EXPECT_THAT(told(), AllOf(HasSubstr("# The best kernel so far\n\nIt is correct.\n"), HasSubstr("O[0] = 1;")));
}

TEST_F(UntimedTest, the_best_kernel_is_in_the_prompt_after_an_answer_without_one) {
  turn("O[0] = 1;", ranked(true));
  EXPECT_FALSE(say(answer("O[0] = 1;")));
  EXPECT_EQ(turns_.back().fault, ReplyFault::repeated);
  EXPECT_THAT(told(), AllOf(HasSubstr("continue from this one\n\nIt is correct.\n"), HasSubstr("\n  O[0] = 1;\n")));
}

TEST_F(UntimedTest, a_model_goes_on_from_what_is_ranked_first) {
  turn("O[0] = 1;", ranked(true));
  turn("O[0] = 2;", ranked(false));
  const std::string text = told();
  EXPECT_THAT(text, HasSubstr("It is not ranked before the best kernel so far: its change is not kept."));
  const std::string best = text.substr(text.find("# The best kernel so far"));
  EXPECT_THAT(best.substr(0, best.find("\n# ", 1)), AllOf(HasSubstr("O[0] = 1;"), Not(HasSubstr("O[0] = 2;"))));
}

TEST_F(UntimedTest, a_chain_that_begins_anew_is_shown_the_best_kernel) {
  turn("O[0] = 1;", ranked(true));
  for (int i = 0; i < 7 && turns_.back().purpose != "restart 1"; ++i) {
    turn(fmt::format("O[0] = {};", 2 + i), ranked(false));
  }
  ASSERT_EQ(turns_.back().purpose, "restart 1");
  EXPECT_THAT(turns_.back().request.messages.at(1).text,
              HasSubstr("# The kernel to beat\n\nThe best one so far is correct.\n"));
}

}  // namespace
}  // namespace kw
