// In the model's seat: answers with several kernels.
#include <gmock/gmock.h>

#include "propose/testing/model_seat.hpp"

namespace kw {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class SeveralBundlesTest : public ModelSeat {};

TEST_F(SeveralBundlesTest, are_all_verified) {
  const auto one = say(fence(bundle("O[0] = 1;")) + "\nor, bolder:\n\n" + fence(bundle("O[0] = 2;")));
  ASSERT_TRUE(one) << turns_.back().fault_message;
  (void)judge(*one, timed(10));
  const auto two = proposer().next();
  ASSERT_TRUE(two);
  EXPECT_EQ(two->provenance.turn, one->provenance.turn);
  EXPECT_EQ(service_.all.size(), 1U) << "the chain waits for both";
  (void)judge(*two, timed(5, 2));
  EXPECT_THAT(told(), AllOf(HasSubstr("It is the best kernel so far."), HasSubstr("O[0] = 2;")));
}

TEST_F(SeveralBundlesTest, count_without_those_that_were_seen) {
  turn("O[0] = 1;", timed(10));
  const auto two = say(fence(bundle("O[0] = 1;")) + fence(bundle("O[0] = 2;")));
  ASSERT_TRUE(two) << turns_.back().fault_message;
  EXPECT_THAT(two->candidate.bundle.source, HasSubstr("O[0] = 2;"));
  (void)judge(*two, timed(5, 2));
  EXPECT_FALSE(proposer().next());
}

TEST_F(SeveralBundlesTest, are_a_fault_when_there_are_many) {
  std::string many;
  for (int i = 0; i < 9; ++i) many += fence(bundle(fmt::format("O[0] = {};", i)));
  EXPECT_FALSE(say(many));
  EXPECT_EQ(turns_.back().fault, ReplyFault::several_bundles);
  EXPECT_EQ(turns_.back().fault_message, "the answer holds 9 different complete bundles; at most 4 are verified");
}

}  // namespace
}  // namespace kw
