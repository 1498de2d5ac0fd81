#include "propose/bandit.hpp"

#include <gtest/gtest.h>

#include "base/rng.hpp"

namespace kw {
namespace {

TEST(Bandit, tries_every_arm_once_in_order) {
  Bandit bandit(3);
  for (const std::size_t arm : {0U, 1U, 2U}) {
    EXPECT_EQ(bandit.choose({true, true, true}), arm);
    bandit.reward(arm, 0);
  }
}

TEST(Bandit, leaves_out_what_is_not_available) {
  Bandit bandit(3);
  EXPECT_EQ(bandit.choose({false, false, true}), 2U);
}

TEST(Bandit, prefers_what_gains_and_goes_on_looking_at_the_others) {
  Bandit bandit(2);
  Rng rng(7);
  int tries[2] = {0, 0};
  for (int i = 0; i < 400; ++i) {
    const auto arm = bandit.choose({true, true});
    ++tries[arm];
    bandit.reward(arm, rng.uniform() < (arm == 1 ? 0.6 : 0.1) ? 1 : 0);
  }
  EXPECT_GT(tries[1], 240);
  EXPECT_GT(tries[0], 20);
}

TEST(Bandit, turns_away_from_an_arm_that_has_run_dry) {
  Bandit bandit(2);
  for (int i = 0; i < 100; ++i) {
    const auto arm = bandit.choose({true, true});
    bandit.reward(arm, arm == 0 ? 1 : 0.3);
  }
  int other = 0;
  for (int i = 0; i < 100; ++i) {
    const auto arm = bandit.choose({true, true});
    other += arm == 1 ? 1 : 0;
    bandit.reward(arm, arm == 0 ? 0 : 0.3);
  }
  EXPECT_GT(other, 50);
}

TEST(Bandit, a_gain_is_logarithmic_and_bounded) {
  EXPECT_EQ(gain_of_speedup(0.5), 0);
  EXPECT_EQ(gain_of_speedup(1), 0);
  EXPECT_NEAR(gain_of_speedup(1.224745), 0.5, 1e-4);
  EXPECT_EQ(gain_of_speedup(9), 1);
}

}  // namespace
}  // namespace kw
