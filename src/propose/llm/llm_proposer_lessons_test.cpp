// In the model's seat: what was learnt from a kernel is asked for with the next answer, and told to those who come
// later.
#include <gmock/gmock.h>

#include "propose/testing/model_seat.hpp"

namespace kw {
namespace {

using testing::HasSubstr;
using testing::Not;

class LessonsTest : public ModelSeat {
 protected:
  static std::string looking_back(const std::string& body) {
    return "0. **Reflection**\nDiagnosis: loads were the limit.\nAvoid: more threads.\nPrioritise: wider loads.\n" +
           answer(body);
  }
};

TEST_F(LessonsTest, are_asked_for_once_a_kernel_was_judged) {
  EXPECT_THAT(told(), Not(HasSubstr("**Reflection**")));
  turn("O[0] = 1;", timed(10));
  EXPECT_THAT(told(), HasSubstr("**Reflection** on your last kernel"));
  turn("O[0] = 2;", refused(GateId::check, Reason::wrong_result, "O is wrong"));
  EXPECT_THAT(told(), HasSubstr("**Reflection** on your last kernel"));
  EXPECT_FALSE(say("no kernel today"));
  EXPECT_THAT(told(), Not(HasSubstr("**Reflection**"))) << "nothing was judged";
}

TEST_F(LessonsTest, cost_no_request) {
  turn("O[0] = 1;", timed(10));
  const auto proposal = say(looking_back("O[0] = 2;"));
  ASSERT_TRUE(proposal);
  (void)judge(*proposal, timed(8, 1.25));
  EXPECT_EQ(turns_.size(), 2U);
  EXPECT_THAT(told(),
              HasSubstr("* right, 10 ms. Design: O[0] = 1; Diagnosis: loads were the limit. Avoid: more threads. "
                        "Prioritise: wider loads."));
  EXPECT_EQ(service_.all.size(), 3U);
}

TEST_F(LessonsTest, outlive_the_beginning_of_a_chain) {
  turn("O[0] = 1;", timed(10));
  for (int i = 0; i < 7 && turns_.back().purpose != "restart 1"; ++i) {
    const auto proposal = say(looking_back("O[0] = 2 + " + std::to_string(i) + ";"));
    ASSERT_TRUE(proposal);
    (void)judge(*proposal, timed(20, 0.5, Comparison::slower));
  }
  const auto& restart = turns_.back().request.messages.at(1).text;
  EXPECT_THAT(restart, HasSubstr("# What was learnt before"));
  EXPECT_THAT(restart, HasSubstr("0.5 times as fast as the best before (0.49 to 0.51): slower"));
}

TEST_F(LessonsTest, of_earlier_runs_are_told_from_the_first_prompt_on) {
  lessons_ = {"right, 9 ms. Diagnosis: it was \n# the cache. Avoid: small tiles."};
  EXPECT_THAT(told(), HasSubstr("\n* right, 9 ms. Diagnosis: it was # the cache. Avoid: small tiles."))
      << "a lesson is one line, whatever a model wrote into it";
  turn("O[0] = 1;", timed(10));
  EXPECT_THAT(told(), HasSubstr("Avoid: small tiles."));
}

TEST_F(LessonsTest, can_be_left_out) {
  options_.parts.lessons = false;
  lessons_ = {"right, 9 ms. Avoid: small tiles."};
  EXPECT_THAT(told(), Not(HasSubstr("Avoid: small tiles.")));
  turn("O[0] = 1;", timed(10));
  EXPECT_THAT(told(), Not(HasSubstr("**Reflection**")));
}

}  // namespace
}  // namespace kw
