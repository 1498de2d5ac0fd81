#include "propose/llm/chain.hpp"

#include <gtest/gtest.h>

#include <deque>

namespace kw {
namespace {

class ChainTest : public ::testing::Test {
 protected:
  const Attempt& attempt(double median_ns) {
    Attempt& made = attempts_.emplace_back();
    made.ordinal = std::ssize(attempts_);
    if (median_ns > 0) {
      made.measurement = Measurement();
      made.measurement->median_ns = median_ns;
      made.became_best = median_ns < best_ns_;
      best_ns_ = std::min(best_ns_, median_ns);
    } else {
      made.verdict.pass(GateId::read);
      made.verdict.reject(GateId::build, Reason::build_failed, "no");
    }
    return made;
  }
  const Attempt& round(double median_ns) {
    chain_.begin_round(1, "tiling");
    chain_.take_candidates(1);
    const Attempt& made = attempt(median_ns);
    chain_.end_sample({}, made);
    return made;
  }
  void faulty_round() {
    chain_.begin_round(1, "");
    chain_.take_fault({});
  }

  Chain chain_{3};
  std::deque<Attempt> attempts_;
  double best_ns_ = 1e9;
};

TEST_F(ChainTest, begins_with_a_first_prompt_and_waits_while_samples_are_out) {
  EXPECT_EQ(chain_.need(), ChainNeed::first);
  EXPECT_EQ(chain_.purpose(), "first prompt");
  chain_.begin_round(2, "");
  EXPECT_EQ(chain_.need(), ChainNeed::nothing);
  chain_.take_fault({});
  chain_.take_candidates(1);
  EXPECT_EQ(chain_.need(), ChainNeed::nothing);
  chain_.end_sample({}, attempt(5));
  EXPECT_EQ(chain_.need(), ChainNeed::feedback);
  EXPECT_EQ(chain_.purpose(), "one step");
}

TEST_F(ChainTest, asks_for_repair_while_wrong_and_for_another_reply_without_a_kernel) {
  round(0);
  EXPECT_EQ(chain_.purpose(), "repair");
  faulty_round();
  EXPECT_EQ(chain_.need(), ChainNeed::repair_reply);
}

TEST_F(ChainTest, says_how_a_try_went_by_pairs_and_not_by_medians) {
  round(5);
  Attempt& slow = attempts_.emplace_back(attempt(4));
  slow.became_best = false;
  slow.measurement->versus = {{"incumbent", Comparison::slower, 0.8, {0.79, 0.81, 0.998}, 8, 0}};
  chain_.begin_round(1, "tiling");
  chain_.take_candidates(1);
  chain_.end_sample({}, slow);
  EXPECT_EQ(chain_.last()->attempt, &slow);
  EXPECT_EQ(chain_.tried().back().step, "tiling");
  EXPECT_EQ(chain_.tried().back().text, "right, 0.8 times as fast as the best before (0.79 to 0.81): slower.");
}

TEST_F(ChainTest, takes_the_best_of_a_rounds_samples) {
  chain_.begin_round(3, "");
  for (int i = 0; i < 3; ++i) chain_.take_candidates(1);
  chain_.end_sample({}, attempt(0));
  const Attempt& fast = attempt(4);
  chain_.end_sample({}, fast);
  chain_.end_sample({}, attempt(6));
  EXPECT_EQ(chain_.last()->attempt, &fast);
}

TEST_F(ChainTest, gains_by_a_tuned_form_of_its_kernel) {
  round(5);
  for (int i = 0; i < 4; ++i) round(6);
  chain_.take_tuned(attempt(3));
  for (int i = 0; i < 4; ++i) round(6);
  EXPECT_EQ(chain_.restarts(), 0);
}

TEST_F(ChainTest, begins_anew_after_rounds_without_gain) {
  round(5);
  for (int i = 0; i < 4; ++i) round(6);
  EXPECT_EQ(chain_.restarts(), 0);
  round(6);
  EXPECT_EQ(chain_.restarts(), 1);
  EXPECT_EQ(chain_.need(), ChainNeed::first);
  EXPECT_EQ(chain_.purpose(), "restart 1");
  EXPECT_FALSE(chain_.tried().empty()) << "a model remembers nothing";
}

TEST_F(ChainTest, begins_anew_when_no_kernel_comes) {
  for (int i = 0; i < 3; ++i) faulty_round();
  EXPECT_EQ(chain_.restarts(), 1);
}

TEST_F(ChainTest, a_dropped_request_leaves_nothing_behind) {
  chain_.begin_round(1, "");
  chain_.drop_sample();
  EXPECT_EQ(chain_.need(), ChainNeed::first);
}

}  // namespace
}  // namespace kw
