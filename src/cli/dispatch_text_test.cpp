// Which row a workload takes, as commands print it.

#include "cli/dispatch_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hardware/device_file.hpp"
#include "record/launch_plan.hpp"
#include "record/testing/synthetic_attempt.hpp"
#include "verify/testing/test_problem.hpp"

namespace kw {
namespace {

Bundle with_rows() {
  Bundle bundle = synthetic::bundle();
  bundle.dispatch = {{"h200", {"Sq >= 16"}, {{"BM", 8}}}, {"", {"Sq < 6"}, {{"BM", 2}, {"BN", 64}}}};
  return bundle;
}

TEST(DispatchText, says_which_row_each_workload_takes) {
  const auto candidate = make_candidate(with_rows());
  ASSERT_TRUE(candidate) << candidate.error().to_string();
  const auto workloads = resolve_workloads(*candidate, small_problem(), *find_device_facts("h200"));
  ASSERT_TRUE(workloads) << workloads.error().to_string();
  EXPECT_EQ(rows_text(candidate->bundle, *workloads),
            "\n"
            "workload               dispatch                             tunables\n"
            "primary                row 1 (h200, Sq >= 16)               BM=8 BN=128 UNROLL=1\n"
            "odd                    no row                               BM=4 BN=128 UNROLL=1\n"
            "gqa                    row 2 (any device, Sq < 6)           BM=2 BN=64 UNROLL=1\n");
}

TEST(DispatchText, says_nothing_of_a_bundle_without_a_table) {
  const auto candidate = make_candidate(synthetic::bundle());
  const auto workloads = resolve_workloads(*candidate, small_problem(), *find_device_facts("h200"));
  ASSERT_TRUE(workloads) << workloads.error().to_string();
  EXPECT_EQ(workloads->size(), 3U);
  EXPECT_EQ(rows_text(candidate->bundle, *workloads), "");
}

TEST(DispatchText, says_for_which_workload_a_condition_fails) {
  Bundle bundle = synthetic::bundle();
  bundle.dispatch = {{"", {"Sq / (Sq - 7) > 0"}, {{"BM", 8}}}};
  const auto candidate = make_candidate(std::move(bundle));
  ASSERT_TRUE(candidate) << candidate.error().to_string();
  const auto workloads = resolve_workloads(*candidate, small_problem(), *find_device_facts("h200"));
  ASSERT_FALSE(workloads);
  EXPECT_EQ(workloads.error().code.name, errc::plan_value.name);
  EXPECT_THAT(workloads.error().context, ::testing::ElementsAre("choosing tunables of workload odd"));
}

}  // namespace
}  // namespace kw
