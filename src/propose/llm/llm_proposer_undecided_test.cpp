// In the model's seat: kernels that the verifier could not judge.
#include <gmock/gmock.h>

#include "propose/testing/model_seat.hpp"

namespace kw {
namespace {

using testing::HasSubstr;
using testing::Not;

class UndecidedTest : public ModelSeat {};

TEST_F(UndecidedTest, a_kernel_that_could_not_be_judged_is_tried_again_without_the_model) {
  turn("O[0] = 1;", timed(10));
  const auto proposal = say(answer("O[0] = 2;"));
  ASSERT_TRUE(proposal);
  (void)judge(*proposal, disturbed());
  const auto again = proposer().next();
  ASSERT_TRUE(again) << "the harness times it again";
  EXPECT_EQ(again->candidate.id(), proposal->candidate.id());
  EXPECT_EQ(service_.all.size(), 2U);
  (void)judge(*again, timed(5, 2));
  EXPECT_THAT(told(), HasSubstr("It is the best kernel so far."));
}

TEST_F(UndecidedTest, a_model_goes_on_from_its_best_and_may_send_the_same_kernel) {
  turn("O[0] = 1;", timed(10));
  auto proposal = say(answer("O[0] = 2;"));
  for (int i = 0; i < 3 && proposal; ++i) {
    (void)judge(*proposal, disturbed());
    proposal = proposer().next();
  }
  EXPECT_FALSE(proposal) << "three times are enough";
  EXPECT_THAT(told(), Not(HasSubstr("Answer with the same kernel")));
  EXPECT_THAT(told(), Not(HasSubstr("Find the cause")));
  EXPECT_THAT(told(), HasSubstr("O[0] = 1;")) << "the best";
  EXPECT_TRUE(say(answer("O[0] = 2;"))) << turns_.back().fault_message;
}

}  // namespace
}  // namespace kw
