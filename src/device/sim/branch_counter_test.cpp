// Branches of warps, counted by hand.

#include "device/sim/branch_counter.hpp"

#include <gmock/gmock.h>

namespace kw::sim {
namespace {

constexpr kw_sim::Place k_head = 10, k_then = 20, k_end = 30;

class BranchCounterTest : public testing::Test {
 protected:
  void walk(unsigned thread, const std::vector<kw_sim::Place>& blocks) {
    for (const auto block : blocks) counter_.entered(thread, block);
  }
  /// Of the branch at the end of the block, once everybody has arrived.
  BranchTotals of(kw_sim::Place block) {
    counter_.warp_is_together(0);
    return counter_.take()[block];
  }
  static void expect(const BranchTotals& totals, std::int64_t executed, std::int64_t parted, std::int64_t lanes) {
    EXPECT_EQ(totals.executed, executed);
    EXPECT_EQ(totals.parted, parted);
    EXPECT_EQ(totals.lanes, lanes);
  }
  BranchCounter counter_;
};

TEST_F(BranchCounterTest, a_condition_that_some_lanes_meet_parts_their_warp) {
  counter_.begin_block(32);
  for (unsigned lane = 0; lane < 32; ++lane) {
    walk(lane, lane % 2 == 0 ? std::vector{k_head, k_then, k_end} : std::vector{k_head, k_end});
  }
  expect(of(k_head), 1, 1, 32);
}

TEST_F(BranchCounterTest, a_condition_on_the_warp_parts_none) {
  counter_.begin_block(64);
  for (unsigned lane = 0; lane < 64; ++lane) {
    walk(lane, lane < 32 ? std::vector{k_head, k_then, k_end} : std::vector{k_head, k_end});
  }
  expect(of(k_head), 2, 0, 64);
}

TEST_F(BranchCounterTest, a_loop_that_lanes_leave_one_by_one_parts_them_every_time_but_the_last) {
  counter_.begin_block(4);
  for (unsigned lane = 0; lane < 4; ++lane) {
    for (unsigned round = 0; round <= lane; ++round) counter_.entered(lane, k_head);
    counter_.entered(lane, k_end);
  }
  expect(of(k_head), 4, 3, 4 + 3 + 2 + 1);
}

TEST_F(BranchCounterTest, a_block_that_is_always_left_for_one_other_is_no_branch) {
  counter_.begin_block(32);
  for (unsigned lane = 0; lane < 32; ++lane) walk(lane, {k_head, k_end});
  counter_.warp_is_together(0);
  EXPECT_TRUE(counter_.take().empty());
}

TEST_F(BranchCounterTest, what_stands_for_an_instruction_of_a_gpu_is_passed_over) {
  counter_.leave_out([](kw_sim::Place block) { return block == k_then; });
  counter_.begin_block(32);
  for (unsigned lane = 0; lane < 32; ++lane) {
    walk(lane, {k_head});
    for (unsigned tries = 0; tries < lane; ++tries) counter_.entered(lane, k_then);
    walk(lane, {k_end});
  }
  counter_.warp_is_together(0);
  EXPECT_TRUE(counter_.take().empty());
}

TEST_F(BranchCounterTest, rounds_before_and_after_lanes_were_together_are_not_the_same) {
  counter_.begin_block(2);
  walk(0, {k_head, k_then, k_head});
  counter_.warp_is_together(0);
  walk(1, {k_head, k_end});
  expect(of(k_head), 2, 0, 2);
}

}  // namespace
}  // namespace kw::sim
