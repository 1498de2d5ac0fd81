// In the model's seat: when a chain begins anew, and what is said again.
#include <gmock/gmock.h>

#include "propose/llm/client/chat_errors.hpp"
#include "propose/testing/model_seat.hpp"

namespace kw {
namespace {

using testing::HasSubstr;

class UnansweredTest : public ModelSeat {
 protected:
  /// A right kernel and four that gained nothing: the next round without a gain is the last before a restart.
  void almost_spent() {
    turn("O[0] = 1;", timed(10));
    for (int i = 0; i < 4; ++i) turn(fmt::format("O[0] = {};", 2 + i), timed(12, 0.8, Comparison::slower));
  }
};

TEST_F(UnansweredTest, a_restart_waits_until_the_last_feedback_was_answered) {
  almost_spent();
  EXPECT_FALSE(say(fence(bundle("O[0] = 7;", "[scratch]\nS = {type = \"f32\"}\n"))));
  EXPECT_THAT(told(), HasSubstr("The bundle's header could not be read"));
  EXPECT_THAT(told(), HasSubstr("O[0] = 7;"));
  turn("O[0] = 7;", timed(12, 0.8, Comparison::slower));
  (void)told();
  EXPECT_FALSE(say("no code"));
  EXPECT_EQ(turns_.back().purpose, "restart 1");
}

TEST_F(UnansweredTest, a_restart_comes_when_the_same_mistake_is_repeated) {
  almost_spent();
  turn("O[0] = 7;", refused(GateId::check, Reason::wrong_result, "workload ragged: O is wrong"));
  turn("O[0] = 8;", refused(GateId::check, Reason::wrong_result, "workload ragged: O is wrong"));
  EXPECT_THAT(told(), HasSubstr("Write a kernel that is correct for every size."));
}

TEST_F(UnansweredTest, a_restart_shows_the_best_kernel_once) {
  almost_spent();
  turn("O[0] = 7;", timed(12, 0.8, Comparison::slower));
  const std::string text = told();
  ASSERT_THAT(text, HasSubstr("Write a kernel that is correct for every size."));
  EXPECT_THAT(
      text,
      HasSubstr(
          "# The kernel to beat\n\nThe best one so far is correct and takes 10 ms, 6 times as fast as the plain"));
  const std::size_t at = text.find("\n  O[0] = 1;");
  ASSERT_NE(at, std::string::npos);
  EXPECT_EQ(text.find("\n  O[0] = 1;", at + 1), std::string::npos) << "not among the exemplars again";
}

TEST_F(UnansweredTest, a_model_that_makes_new_mistakes_gets_twice_the_rounds) {
  turn("O[0] = 1;", timed(10));
  int rounds = 0;
  while (told().find("Write a kernel that is correct for every size.") == std::string::npos && rounds < 20) {
    turn(fmt::format("O[0] = {};", 2 + rounds),
         refused(GateId::check, Reason::wrong_result, fmt::format("mistake {}", rounds)));
    ++rounds;
  }
  EXPECT_EQ(rounds, 10);
}

TEST_F(UnansweredTest, a_message_that_no_answer_came_to_is_sent_again) {
  turn("O[0] = 1;", refused(GateId::check, Reason::wrong_result, "workload ragged: O is wrong"));
  const std::string message = told();
  service_.answer(fail(errc::chat_server, "500"));
  EXPECT_FALSE(proposer().next());
  EXPECT_EQ(told(), message);
}

}  // namespace
}  // namespace kw
