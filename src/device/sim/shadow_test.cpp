#include "device/sim/shadow.hpp"

#include <gtest/gtest.h>

namespace kw::sim {
namespace {

/// Ordered by epoch and thread alone.
auto ordered_for(unsigned thread, std::uint32_t epoch) {
  return [=](Stamp earlier) { return earlier.epoch() != epoch || earlier.thread() == thread; };
}

TEST(Shadow, stamp_keeps_epoch_clock_thread_and_kind) {
  const Stamp stamp = Stamp::make(0xfedcba98U, 12345, 1023, true);
  EXPECT_EQ(stamp.epoch(), 0xfedcba98U);
  EXPECT_EQ(stamp.clock(), 12345U);
  EXPECT_EQ(stamp.thread(), 1023U);
  EXPECT_TRUE(stamp.atomic());
  EXPECT_EQ(Stamp::make(4, UINT32_MAX, 0, false).clock(), (1U << Stamp::k_clock_bits) - 1) << "bounded, not wrapped";
}

TEST(Shadow, a_write_conflicts_with_any_unordered_access_and_a_read_with_writes_only) {
  Cell cell;
  record(cell, Stamp::make(4, 1, 7, false), 12, false, 32, ordered_for(7, 4));
  EXPECT_TRUE(check(cell, false, ordered_for(8, 4)).with.never());
  EXPECT_EQ(check(cell, true, ordered_for(8, 4)).with.thread(), 7U);
  EXPECT_TRUE(check(cell, true, ordered_for(7, 4)).with.never());
  EXPECT_TRUE(check(cell, true, ordered_for(8, 8)).with.never()) << "a barrier lies between";
  record(cell, Stamp::make(8, 1, 3, false), 12, true, 32, ordered_for(3, 8));
  EXPECT_TRUE(check(cell, false, ordered_for(9, 8)).with_write);
  EXPECT_EQ(check(cell, false, ordered_for(9, 8)).place, 12U);
}

TEST(Shadow, of_many_readers_one_of_another_warp_is_remembered) {
  for (const unsigned lanes : {32U, 64U}) {
    Cell cell;
    const unsigned stranger = lanes + 8;
    for (const unsigned thread : {0U, 1U, stranger, 2U, 3U}) {
      record(cell, Stamp::make(4, 1, thread, false), 12, false, lanes, ordered_for(thread, 4));
    }
    // Everything in warp 0 counts as ordered; the reader of warp 1 is left.
    const auto ordered = [&](Stamp earlier) { return earlier.thread() < lanes; };
    EXPECT_EQ(check(cell, true, ordered).with.thread(), stranger);
  }
}

TEST(Shadow, lanes_that_wait_for_each_other_know_each_others_past_and_nobody_elses) {
  WarpClocks clocks;
  clocks.reset(32);
  const std::uint32_t before = clocks.now[1];
  clocks.join(0x3);
  EXPECT_GE(clocks.known[0][1], before);
  EXPECT_LT(clocks.known[0][2], clocks.now[2]);
  EXPECT_LT(clocks.known[0][1], clocks.now[1]) << "what lane 1 does from now on is not known";
  clocks.join(0x6);  // lane 2 learns of lane 0 through lane 1
  EXPECT_GE(clocks.known[2][0], 1U);
}

TEST(Shadow, lanes_above_32_of_a_wide_warp_have_clocks_of_their_own) {
  WarpClocks clocks;
  clocks.reset(64);
  clocks.join(std::uint64_t{1} << 63 | 1U);
  EXPECT_GE(clocks.known[63][0], 1U);
  EXPECT_GE(clocks.known[0][63], 1U);
  EXPECT_EQ(clocks.known[31][0], 0U) << "lane 31 was not there";
}

}  // namespace
}  // namespace kw::sim
