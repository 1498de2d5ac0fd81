// In the model's seat: which kernel is called the best.
#include <gmock/gmock.h>

#include "propose/testing/model_seat.hpp"

namespace kw {
namespace {

using testing::HasSubstr;
using testing::Not;

class OneBestTest : public ModelSeat {};

/// What stands below the heading of the best kernel.
std::string best_shown(const std::string& text) {
  const std::size_t at = text.find("# The best kernel so far");
  return at == std::string::npos ? "" : text.substr(at, text.find("# What to do", at) - at);
}

TEST_F(OneBestTest, is_what_pairs_decided_and_not_the_lower_median) {
  turn("O[0] = 1;", timed(10));
  turn("O[0] = 2;", timed(9.9, 1.0, Comparison::equivalent));
  EXPECT_THAT(best_shown(told()), HasSubstr("O[0] = 1;"));
  EXPECT_THAT(told(), HasSubstr("not shown to be faster than the best kernel so far, which takes 10 ms"));
}

TEST_F(OneBestTest, is_the_runs_in_every_chain) {
  options_.chains = 2;
  const auto first = say(answer("O[0] = 1;"));
  ASSERT_TRUE(first);
  (void)judge(*first, timed(10));
  const auto second = say(answer("O[0] = 2;"));
  ASSERT_TRUE(second);
  (void)judge(*second, timed(2, 5));
  // The chain that wrote the slower one was asked before the faster one was found; the next time it is told of it.
  EXPECT_FALSE(say("no kernel today"));
  EXPECT_THAT(told(), HasSubstr("It is the best kernel so far."));
  EXPECT_FALSE(say("no kernel today"));
  EXPECT_THAT(best_shown(told()), HasSubstr("O[0] = 2;"));
  EXPECT_FALSE(say("no kernel today"));
  EXPECT_EQ(turns_.back().chain, 0);
}

TEST_F(OneBestTest, may_come_from_the_search) {
  turn("O[0] = 1;", timed(10));
  Attempt searched;
  searched.ordinal = 90;
  searched.proposer = "search";
  searched.candidate = make_candidate(parse_bundle(bundle("O[0] = 9;"), "b").value()).value();
  timed(1, 10)(searched);
  proposer().others_observed(searched);
  EXPECT_THAT(best_shown(told()), HasSubstr("O[0] = 9;"));
  EXPECT_THAT(told(), Not(HasSubstr("It is the best kernel so far.")));
  EXPECT_FALSE(say("no kernel today"));
  EXPECT_THAT(best_shown(told()), HasSubstr("O[0] = 9;"));
}

}  // namespace
}  // namespace kw
