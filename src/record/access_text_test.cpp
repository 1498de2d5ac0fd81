#include "record/access_text.hpp"

#include <gmock/gmock.h>

namespace kw {
namespace {

using testing::ElementsAre;

SimulatedAccesses some_accesses() {
  return {"sim:sm_90",
          8,
          8,
          0,
          {{"scale", 4, false, false, 2, 0, 64, 8, 8},
           {"scale", 5, false, true, 2, 1, 48, 64, 8},
           {"scale", 6, true, false, 4, 0, 128, 8, 4},
           {"sum", 0, false, true, 1, 1, 1, 1, 1}}};
}

TEST(AccessText, says_everything_on_a_terminal) {
  EXPECT_THAT(access_lines(some_accesses()),
              ElementsAre("accesses of memory, counted by the simulator sim:sm_90 in all 8 groups",
                          "  scale, global memory: 4 requests of warps in 72 sectors of 32 bytes; 16 would do; 1 "
                          "requests without some of the lanes.",
                          "  scale, shared memory: 4 requests of warps in 8 passes over the banks; 4 would do.",
                          "  sum, global memory: 1 requests of warps in 1 sectors of 32 bytes; 1 would do; 1 requests "
                          "without some of the lanes.",
                          "  line 5: writes to global memory: 32 sectors a request of a warp, 4 would do; 24 of 32 "
                          "lanes",
                          "  line 6: reads of shared memory: 2 passes a request of a warp, 1 would do"));
}

TEST(AccessText, says_which_part_was_counted) {
  SimulatedAccesses accesses = some_accesses();
  accesses.of = 64;
  accesses.uncounted = 3;
  EXPECT_EQ(counted_part(accesses), "in the first 8 of 64 groups, 3 accesses left out");
}

TEST(AccessText, adds_up_one_space) {
  const AccessCounts sum = sum_of(some_accesses(), MemorySpace::global);
  EXPECT_EQ(sum.requests, 5);
  EXPECT_EQ(sum.transactions, 73);
  EXPECT_EQ(excess_of(sum), 56);
  EXPECT_DOUBLE_EQ(lane_share(sum), 113.0 / 160);
}

TEST(AccessText, tells_branches_apart_from_accesses) {
  SimulatedAccesses accesses = some_accesses();
  const AccessCounts before = sum_of(accesses, MemorySpace::global);
  accesses.lines.insert(accesses.lines.end(), {{"scale", 9, false, false, 30, 4, 900, 0, 0},
                                               {"scale", 12, false, false, 10, 6, 300, 0, 0},
                                               {"sum", 2, false, false, 8, 0, 256, 0, 0}});
  EXPECT_EQ(sum_of(accesses, MemorySpace::global).requests, before.requests);
  EXPECT_EQ(branches_of(accesses).requests, 48);
  EXPECT_EQ(branches_of(accesses).partial, 10);
  const auto sentences = access_sentences(accesses);
  ASSERT_EQ(sentences.size(), 5U);
  EXPECT_EQ(sentences[3],
            "scale, branches: warps come to 40, and part at 10, most often at the end of what begins at line 12.");
  EXPECT_EQ(sentences[4], "sum, branches: warps come to 8, and part at none.");
  for (const AccessCounts& one : costly_lines(accesses, 9)) EXPECT_LT(one.line, 9);
}

TEST(AccessText, names_lines_without_excess_where_lanes_are_missing) {
  SimulatedAccesses accesses;
  accesses.lines = {{"k", 7, false, false, 10, 10, 80, 10, 10}, {"k", 8, false, false, 10, 1, 300, 10, 10}};
  const auto lines = costly_lines(accesses, 5);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].line, 7);
}

}  // namespace
}  // namespace kw
