#include "verify/checking/case_runner.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "verify/testing/test_problem.hpp"

namespace kw {
namespace {

/// The verdict on a case of the workload with that role which failed with `failure`.
Verdict verdict_on(WorkloadRole role, const CaseFailure& failure) {
  const Problem problem = small_problem();
  auto suite = CheckSuite::make(problem, 1, serial_for);
  KW_CHECK(suite.has_value(), "{}", suite.error().to_string());
  const auto& cases = suite->cases();
  const auto one = std::find_if(cases.begin(), cases.end(), [&](const CheckCase& candidate) {
    return problem.workloads[candidate.workload].role == role;
  });
  Verdict verdict;
  reject_case(problem, *one, GateId::check, failure, verdict);
  return verdict;
}

TEST(RejectCase, names_visible_workloads_and_says_everything_of_them) {
  const auto verdict =
      verdict_on(WorkloadRole::edge, {Reason::launch_failed, "a block of 5 by 7 is refused", "5 by 7"});
  EXPECT_EQ(verdict.message, "workload odd: a block of 5 by 7 is refused");
  ASSERT_EQ(verdict.evidence.size(), 1U);
  EXPECT_EQ(verdict.evidence[0].text, "odd: 5 by 7");
  EXPECT_FALSE(verdict.evidence[0].hidden);
}

TEST(RejectCase, keeps_what_a_runtime_says_of_a_held_out_launch_to_itself) {
  const auto verdict =
      verdict_on(WorkloadRole::held_out, {Reason::launch_failed, "a block of 5 by 7 is refused", "5 by 7"});
  EXPECT_EQ(verdict.message, "a held-out workload: the runtime refused a launch");
  ASSERT_EQ(verdict.evidence.size(), 1U);
  EXPECT_TRUE(verdict.evidence[0].hidden);
}

}  // namespace
}  // namespace kw
