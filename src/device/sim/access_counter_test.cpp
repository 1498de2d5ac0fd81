// Transactions of warps, each counted by hand in the comment beside it.

#include "device/sim/access_counter.hpp"

#include <gtest/gtest.h>

#include "device/sim/access_table.hpp"

namespace kw::sim {
namespace {

/// Lane i at `first + i * stride` bytes.
LaneRequest strided(std::uint64_t first, std::uint64_t stride, unsigned lanes = 32) {
  LaneRequest request;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    request.lanes |= std::uint32_t{1} << lane;
    request.address[lane] = first + lane * stride;
  }
  return request;
}

void expect_cost(RequestCost cost, std::int64_t transactions, std::int64_t least) {
  EXPECT_EQ(cost.transactions, transactions);
  EXPECT_EQ(cost.least, least);
}

TEST(GlobalCost, is_one_sector_for_32_bytes_side_by_side) {
  expect_cost(global_cost(strided(0, 4), 4), 4, 4);      // 128 bytes
  expect_cost(global_cost(strided(0, 16), 16), 16, 16);  // 512 bytes
  expect_cost(global_cost(strided(0, 2), 2), 2, 2);      // 64 bytes
  expect_cost(global_cost(strided(0, 4, 3), 4), 1, 1);   // 12 bytes
}

TEST(GlobalCost, counts_a_sector_more_where_the_first_byte_is_inside_one) {
  expect_cost(global_cost(strided(4, 4), 4), 5, 4);
}

TEST(GlobalCost, counts_a_sector_for_each_lane_that_is_far_from_the_others) {
  expect_cost(global_cost(strided(0, 128), 4), 32, 4);
  expect_cost(global_cost(strided(0, 16), 4), 16, 4);  // two lanes in a sector
}

TEST(GlobalCost, counts_bytes_that_several_lanes_read_once) {
  expect_cost(global_cost(strided(64, 0), 4), 1, 1);
}

TEST(SharedCost, is_one_pass_without_conflicts) {
  expect_cost(shared_cost(strided(0, 4), 4), 1, 1);
  expect_cost(shared_cost(strided(0, 132), 4), 1, 1);  // rows of 33 words: another bank each
  expect_cost(shared_cost(strided(0, 1), 1), 1, 1);    // four lanes share a word
  expect_cost(shared_cost(strided(40, 0), 4), 1, 1);   // one word for all
}

TEST(SharedCost, is_a_pass_for_each_word_of_a_bank) {
  expect_cost(shared_cost(strided(0, 128), 4), 32, 1);  // all in bank 0
  expect_cost(shared_cost(strided(0, 8), 4), 2, 1);     // sixteen banks, two words each
}

TEST(SharedCost, serves_8_bytes_by_half_warps_and_16_by_quarters) {
  expect_cost(shared_cost(strided(0, 8), 8), 2, 2);
  expect_cost(shared_cost(strided(0, 16), 16), 4, 4);
  expect_cost(shared_cost(strided(0, 128), 16), 32, 4);   // eight lanes of a quarter in the same four banks
  expect_cost(shared_cost(strided(0, 16, 8), 16), 1, 1);  // one quarter takes part
}

constexpr AccessSite k_read{100, false, false, 4};

TEST(AccessCounter, puts_the_nth_access_of_each_lane_together) {
  AccessCounter counter;
  counter.begin_block(32);
  // Lanes one after another, each with two accesses, 128 bytes apart.
  for (unsigned lane = 0; lane < 32; ++lane) {
    counter.access(lane, k_read, 4 * lane, 4);
    counter.access(lane, k_read, 128 + 4 * lane, 4);
  }
  counter.block_is_together();
  const auto totals = counter.take();
  ASSERT_EQ(totals.size(), 1U);
  EXPECT_EQ(totals.at(k_read).requests, 2);
  EXPECT_EQ(totals.at(k_read).partial, 0);
  EXPECT_EQ(totals.at(k_read).transactions, 8);
  EXPECT_TRUE(counter.take().empty());
}

TEST(AccessCounter, begins_anew_where_the_warp_was_together) {
  AccessCounter counter;
  counter.begin_block(32);
  counter.access(0, k_read, 0, 4);  // lane 0 alone, before the others come
  counter.warp_is_together(0);
  for (unsigned lane = 0; lane < 32; ++lane) counter.access(lane, k_read, 4 * lane, 4);
  counter.block_is_together();
  const auto totals = counter.take();
  EXPECT_EQ(totals.at(k_read).requests, 2);
  EXPECT_EQ(totals.at(k_read).partial, 1);
  EXPECT_EQ(totals.at(k_read).lanes, 33);
}

TEST(AccessCounter, knows_how_many_lanes_the_last_warp_has) {
  AccessCounter counter;
  counter.begin_block(40);
  for (unsigned thread = 0; thread < 40; ++thread) counter.access(thread, k_read, 4 * thread, 4);
  counter.block_is_together();
  const auto totals = counter.take();
  EXPECT_EQ(totals.at(k_read).requests, 2);
  EXPECT_EQ(totals.at(k_read).partial, 0) << "eight lanes are the whole second warp";
}

TEST(AccessCounter, takes_longer_accesses_apart_as_their_alignment_demands) {
  AccessCounter counter;
  counter.begin_block(1);
  counter.access(0, k_read, 0, 12);  // three words
  counter.access(0, k_read, 0, 32);  // two of 16 bytes
  counter.block_is_together();
  const auto totals = counter.take();
  EXPECT_EQ(totals.at({100, false, false, 4}).requests, 3);
  EXPECT_EQ(totals.at({100, false, false, 16}).requests, 2);
}

TEST(AccessCounter, leaves_out_and_counts_what_it_has_no_room_for) {
  AccessCounter counter;
  counter.begin_block(2);
  // One lane runs far ahead of the other.
  for (int i = 0; i < (1 << 18) + 3; ++i) counter.access(0, k_read, 0, 4);
  EXPECT_EQ(counter.uncounted(), 3);
}

TEST(AccessTable, adds_up_lines_and_puts_the_smallest_together) {
  AccessTable table;
  for (int line = 1; line <= 20; ++line) table.add("k", line, k_read, {1, 0, 32, line, 1});
  table.add("k", 20, k_read, {1, 0, 32, 5, 1});
  const auto counts = table.take(8);
  ASSERT_EQ(counts.size(), 5U) << "four lines, and the rest";
  EXPECT_EQ(counts.front().line, 0);
  EXPECT_EQ(counts.front().transactions, 16 * 17 / 2);
  EXPECT_EQ(counts.back().line, 20);
  EXPECT_EQ(counts.back().transactions, 25);
}

TEST(AccessTable, keeps_the_branches_that_part_warps_most_often_beside_the_accesses) {
  AccessTable table;
  table.add("k", 1, k_read, {1, 0, 32, 4, 1});
  for (int line = 1; line <= 9; ++line) table.add("k", line, BranchTotals{10, line, 320});
  table.add("k", 9, BranchTotals{10, 1, 320});
  const auto counts = table.take(32);
  ASSERT_EQ(counts.size(), 4U) << "two lines of branches, their rest, and one of accesses";
  EXPECT_EQ(counts[0].line, 0);
  EXPECT_EQ(counts[0].partial, 1 + 2 + 3 + 4 + 5 + 6 + 7);
  EXPECT_EQ(counts[2].line, 9);
  EXPECT_EQ(counts[2].requests, 20);
  EXPECT_EQ(counts[2].partial, 10);
  EXPECT_EQ(counts[2].transactions, 0);
  EXPECT_EQ(counts[3].transactions, 4);
  EXPECT_TRUE(table.take(32).empty());
}

}  // namespace
}  // namespace kw::sim
