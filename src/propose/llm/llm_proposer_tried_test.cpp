// In the model's seat: what is remembered of earlier tries, and which step is advised next.
#include <gmock/gmock.h>

#include "propose/testing/model_seat.hpp"

namespace kw {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* k_vectors = "the kernel computes with less than the";

class TriedBeforeTest : public ModelSeat {
 protected:
  /// "# Tried before", without what follows.
  std::string tried() {
    const std::string text = told();
    const std::size_t at = std::min(text.find("# Tried before"), text.size());
    return text.substr(at, text.find("\n# ", at) - at);
  }
};

TEST_F(TriedBeforeTest, says_what_the_model_did_and_what_the_pairs_said) {
  turn("O[0] = 1;", timed(10));
  EXPECT_THAT(tried(), HasSubstr("* right, 10 ms. Analysis: it is slow. Design: O[0] = 1;"));
  const auto tunable = say("**Analysis:** loads are\nnot wide.\n\n**Design:** wide loads.\n\n" +
                           fence(bundle("O[0] = 2;", "[tunables]\nWIDE = {values = [4, 8], default = 4}\n")));
  ASSERT_TRUE(tunable);
  (void)judge(*tunable, timed(9.9, 0.99, Comparison::equivalent));
  EXPECT_THAT(tried(), HasSubstr("* right, 0.99 times as fast as the best before (0.97 to 1.01): equivalent; WIDE = 4. "
                                 "Analysis: loads are not wide. Design: wide loads."));
  EXPECT_THAT(tried(), Not(HasSubstr("vectors"))) << "the step that was advised is not what was done";
}

TEST_F(TriedBeforeTest, a_step_that_was_taken_and_did_not_help_is_not_advised_again) {
  turn("O[0] = 1;", timed(10));
  EXPECT_THAT(told(), HasSubstr(k_vectors));
  turn("O[0] = 2;", timed(12, 0.8, Comparison::slower));
  EXPECT_THAT(told(), Not(HasSubstr(k_vectors)));
}

TEST_F(TriedBeforeTest, a_step_that_the_model_did_not_take_is_advised_again) {
  turn("O[0] = 1;", timed(10));
  EXPECT_THAT(told(), HasSubstr("begin the design with the word \"Instead\""));
  turn("Instead of vectors: O[0] = 2;", timed(12, 0.8, Comparison::slower));
  EXPECT_THAT(told(), HasSubstr(k_vectors));
}

TEST_F(TriedBeforeTest, is_told_after_a_repetition_and_when_a_chain_begins_anew) {
  turn("O[0] = 1;", timed(10));
  EXPECT_FALSE(say(answer("O[0] = 1;")));
  EXPECT_THAT(told(), HasSubstr("identical, byte for byte"));
  EXPECT_THAT(tried(), HasSubstr("* right, 10 ms. Analysis: it is slow. Design: O[0] = 1;"));
  for (int i = 0; i < 7 && turns_.back().purpose != "restart 1"; ++i) {
    turn("O[0] = 2 + " + std::to_string(i) + ";", timed(20, 0.5, Comparison::slower));
  }
  EXPECT_EQ(turns_.back().purpose, "restart 1");
  EXPECT_THAT(turns_.back().request.messages.at(1).text, HasSubstr("Design: O[0] = 2 + 3;"));
}

TEST_F(TriedBeforeTest, a_step_whose_kernel_was_rejected_is_credited_once_it_is_repaired) {
  turn("O[0] = 1;", timed(10));
  turn("O[0] = 2;", refused(GateId::check, Reason::wrong_result, "O is wrong"));
  EXPECT_THAT(tried(), HasSubstr("* rejected at check, wrong_result. Analysis"));
  turn("O[0] = 3;", timed(12, 0.8, Comparison::slower));
  EXPECT_THAT(told(), Not(HasSubstr(k_vectors)));
}

}  // namespace
}  // namespace kw
