// In the model's seat: what the simulator counted of a kernel's accesses and the hardware of its instructions, and the
// advice that follows.
#include <gmock/gmock.h>

#include "propose/testing/model_seat.hpp"

namespace kw {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Line 3 of the kernel is its body.
AccessCounts read_of_body(bool shared, std::int64_t transactions, std::int64_t least) {
  return {"k", 3, shared, false, 10, 0, 320, transactions, least};
}

class AccessesTest : public ModelSeat {
 protected:
  std::string told_of(const Judgement& found) {
    const auto proposal = say(answer("O[0] = 1;"));
    EXPECT_TRUE(proposal);
    if (proposal) {
      (void)judge(*proposal, [&](Attempt& attempt) {
        timed(10)(attempt);
        // Nothing else to advise about.
        attempt.build.machine_code = {{"k", true, 100, 60, 0, 512, 10, 0, 0, {}}};
        found(attempt);
      });
    }
    return told();
  }
  std::string told_of(const AccessCounts& counts) {
    return told_of([&](Attempt& attempt) { attempt.accesses = SimulatedAccesses{"sim:sm_90", 4, 8, 0, {counts}}; });
  }
  std::string told_of(const HardwareCounters& counters) {
    return told_of([&](Attempt& attempt) { attempt.measurement->counters = counters; });
  }
};

TEST_F(AccessesTest, are_shown_with_the_lines_that_cost_most) {
  const std::string told = told_of(read_of_body(false, 320, 40));
  EXPECT_THAT(told,
              HasSubstr("* The simulator (sim:sm_90) counted what warps ask of memory in the first 4 of 8 groups; "
                        "it counts, and times nothing:\n  * k, global memory: 10 requests of warps in 320 sectors "
                        "of 32 bytes; 40 would do."));
  EXPECT_THAT(told, HasSubstr("line 3"));
  EXPECT_THAT(told, HasSubstr("reads of global memory: 32 sectors a request of a warp, 4 would do"));
}

TEST_F(AccessesTest, that_are_far_apart_are_advised_to_be_neighbours) {
  EXPECT_THAT(told_of(read_of_body(false, 320, 40)),
              HasSubstr("One step, and only this one: lanes of a warp reach global memory far apart (320 sectors of "
                        "global memory where 40 would do, most of the excess at line 3: reads of global memory: 32 "
                        "sectors a request of a warp, 4 would do)."));
}

TEST_F(AccessesTest, that_meet_in_banks_are_advised_to_be_padded) {
  EXPECT_THAT(told_of(read_of_body(true, 320, 10)),
              HasSubstr("lanes of a warp meet in the same banks of shared memory (320 passes over the banks where 10 "
                        "would do, most of the excess at line 3: reads of shared memory: 32 passes a request of a "
                        "warp, 1 would do)"));
}

TEST_F(AccessesTest, of_some_lanes_are_advised_to_be_of_all) {
  AccessCounts counts = read_of_body(false, 40, 40);
  counts.partial = 10;
  counts.lanes = 80;
  EXPECT_THAT(told_of(counts),
              HasSubstr("lanes of a warp do different work (25 % of the lanes take part in their warps' "
                        "10 requests)"));
}

TEST_F(AccessesTest, of_warps_that_part_at_branches_are_advised_to_stay_together) {
  const AccessCounts branches{"k", 3, false, false, 40, 10, 1280, 0, 0};
  const std::string told = told_of([&](Attempt& attempt) {
    attempt.accesses = SimulatedAccesses{"sim:sm_90", 4, 8, 0, {branches, read_of_body(false, 40, 40)}};
  });
  EXPECT_THAT(told, HasSubstr("* k, branches: warps come to 40, and part at 10, most often at the end of what begins "
                              "at line 3."));
  EXPECT_THAT(told,
              HasSubstr("lanes of a warp do different work (10 of the 40 branches that warps come to part them)"));
}

TEST_F(AccessesTest, that_cost_no_more_than_they_must_are_no_reason_for_advice) {
  const std::string told = told_of(read_of_body(false, 44, 40));
  EXPECT_THAT(told, Not(HasSubstr("far apart")));
  EXPECT_THAT(told, Not(HasSubstr("meet in the same banks")));
  EXPECT_THAT(told, Not(HasSubstr("do different work")));
}

HardwareCounters stalled_by(const std::string& reason, double share) {
  HardwareCounters counters;
  counters.kernel = "k";
  counters.stalls = {{reason, share}};
  return counters;
}

TEST_F(AccessesTest, wait_for_what_most_warps_wait_for) {
  EXPECT_THAT(told_of(stalled_by("long_scoreboard", 0.6)),
              HasSubstr("warps wait for global memory (60 % of all samples of warps: long_scoreboard)"));
}

TEST_F(AccessesTest, wait_at_barriers) {
  EXPECT_THAT(told_of(stalled_by("barrier", 0.4)), HasSubstr("warps wait at barriers (40 % of all samples of warps"));
}

TEST_F(AccessesTest, wait_for_shared_memory) {
  EXPECT_THAT(told_of(stalled_by("mio_throttle", 0.35)),
              HasSubstr("warps wait for shared memory or special functions"));
}

TEST_F(AccessesTest, wait_for_nothing_in_particular) {
  EXPECT_THAT(told_of(stalled_by("long_scoreboard", 0.2)), Not(HasSubstr("warps wait for global memory")));
}

TEST_F(AccessesTest, of_busy_schedulers_with_integers_are_advised_to_save_them) {
  HardwareCounters counters;
  counters.kernel = "k";
  counters.issue_share = 0.8;
  counters.instructions = {{"integer", 0.5}, {"fp32", 0.3}, {"control", 0.1}};
  const std::string told = told_of(counters);
  EXPECT_THAT(told, HasSubstr("most instructions are not the arithmetic of the problem (of the instructions that "
                              "threads execute, integer 50 %, control 10 %)"));
  EXPECT_THAT(told, HasSubstr("50 % of executed instructions are integer, 30 % of executed instructions are fp32"));
}

TEST_F(AccessesTest, that_the_hardware_counted_are_shown) {
  HardwareCounters counters;
  counters.kernel = "k";
  counters.sectors_per_load = 31.5;
  counters.bank_conflict_share = 0.9;
  counters.divergent_branch_share = 0.25;
  const std::string told = told_of(counters);
  EXPECT_THAT(told, HasSubstr("31.5 sectors of 32 bytes for one load of a warp, 90 % of the passes over shared memory "
                              "are bank conflicts, 25 % of branches divide a warp"));
  EXPECT_THAT(told, HasSubstr("(conflicts are 90 % of the passes over the banks)"));
}

}  // namespace
}  // namespace kw
