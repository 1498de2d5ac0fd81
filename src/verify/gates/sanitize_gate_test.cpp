// The gate `sanitize` with a tool that says what the test tells it: what it is asked, and what becomes of its answer.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "verify/testing/fake_backend.hpp"
#include "verify/testing/scripted_tools.hpp"
#include "verify/testing/verifier_fixture.hpp"

namespace kw {
namespace {

class SanitizeGateTest : public VerifierTest {};

std::string evidence_of(const VerifyResult& result, GateId gate) {
  std::string text;
  for (const auto& evidence : result.verdict.evidence) {
    if (evidence.gate == gate) text += evidence.text + "\n";
  }
  return text;
}

TEST_F(SanitizeGateTest, rejects_what_no_tool_has_looked_at_where_that_is_required) {
  ScriptedSanitizer sanitizer;
  tools.sanitizers = {&sanitizer};
  open(*parse_requirements("sanitized"));
  EXPECT_TRUE(verify("honest").verdict.accepted());
  sanitizer.checked = false;
  const auto result = verify("honest");
  EXPECT_EQ(result.verdict.failed_gate, GateId::sanitize);
  EXPECT_EQ(result.verdict.reason, Reason::constraint_violated);
  EXPECT_EQ(result.verdict.message, "sanitized is required, and no sanitizer could run this kernel");
}

TEST_F(SanitizeGateTest, sanitizes_some_groups_of_a_primary_that_is_too_large) {
  ScriptedSanitizer sanitizer;
  sanitizer.enough = cost(problem, problem.primary()).flops * 0.9;  // half of it: 18 groups
  tools.sanitizers = {&sanitizer};
  open();
  const auto clean = verify("honest");
  EXPECT_TRUE(clean.verdict.accepted()) << clean.verdict.message;
  EXPECT_THAT(sanitizer.asked,
              ::testing::ElementsAre("2: 5 x 2", "launch 0: 6 first, 6 middle and 6 last of 40 groups"));
  EXPECT_THAT(evidence_of(clean, GateId::sanitize),
              ::testing::HasSubstr("primary: 6 first, 6 middle and 6 last of 40 groups: a note"));
  sanitizer.on_primary = SanitizerFinding{"a read behind K", false};
  const auto caught = verify("honest");
  EXPECT_EQ(caught.verdict.failed_gate, GateId::sanitize);
  EXPECT_EQ(caught.verdict.reason, Reason::sanitizer_report);
}

TEST_F(SanitizeGateTest, asks_no_tool_about_a_workload_that_the_suite_leaves_out) {
  ScriptedSanitizer sanitizer;
  tools.sanitizers = {&sanitizer};
  std::vector<double> sizes;
  for (const auto& workload : problem.workloads) sizes.push_back(cost(problem, workload).steps);
  suite.workload_flops = std::ranges::min(sizes);
  open();
  EXPECT_TRUE(verify("honest").verdict.accepted());
  EXPECT_THAT(sanitizer.asked, ::testing::ElementsAre(::testing::StartsWith("1: "))) << "the smallest, the only one";
}

TEST_F(SanitizeGateTest, sanitizes_smaller_workloads_where_little_time_is_left) {
  ScriptedSanitizer sanitizer;
  tools.sanitizers = {&sanitizer};
  open();
  EXPECT_TRUE(verify("honest").verdict.accepted());
  EXPECT_THAT(sanitizer.asked, ::testing::ElementsAre(::testing::StartsWith("0: ")));
  sanitizer.per_second = 1;  // as if an hour were next to nothing
  EXPECT_TRUE(verify("honest").verdict.accepted());
  EXPECT_THAT(sanitizer.asked[1], ::testing::StartsWith("1: ")) << "the smallest";
}

TEST_F(SanitizeGateTest, says_where_no_group_of_the_primary_can_be_sanitized) {
  ScriptedSanitizer sanitizer;
  sanitizer.enough = 1;
  tools.sanitizers = {&sanitizer};
  open();
  const auto result = verify("honest");
  EXPECT_TRUE(result.verdict.accepted()) << result.verdict.message;
  EXPECT_THAT(evidence_of(result, GateId::sanitize),
              ::testing::HasSubstr("primary not sanitized by scripted: one group comes to "));
}

TEST_F(SanitizeGateTest, asks_no_tool_about_a_primary_with_more_bytes_than_it_can_hold) {
  ScriptedSanitizer sanitizer;
  sanitizer.enough = cost(problem, problem.primary()).flops * 0.9;
  sanitizer.bytes = 1;
  tools.sanitizers = {&sanitizer};
  open();
  const auto result = verify("honest");
  EXPECT_TRUE(result.verdict.accepted()) << result.verdict.message;
  EXPECT_THAT(sanitizer.asked, ::testing::ElementsAre("2: 5 x 2"));
  EXPECT_THAT(evidence_of(result, GateId::sanitize),
              ::testing::HasSubstr("primary not sanitized by scripted: its buffers have "));
}

TEST_F(SanitizeGateTest, asks_no_tool_about_a_whole_workload_with_more_bytes_than_it_can_hold) {
  ScriptedSanitizer sanitizer;
  sanitizer.bytes = 1;
  sanitizer.whole_bytes = 1;
  tools.sanitizers = {&sanitizer};
  open();
  const auto result = verify("honest");
  EXPECT_TRUE(result.verdict.accepted()) << result.verdict.message;
  EXPECT_THAT(sanitizer.asked, ::testing::IsEmpty());
  EXPECT_THAT(evidence_of(result, GateId::sanitize),
              ::testing::HasSubstr("not sanitized: every workload is too large for scripted"));
}

TEST_F(SanitizeGateTest, sanitizes_a_would_be_best_and_nothing_else) {
  kernels["slower"] = FakeKernel{FakeBehaviour::honest, 8e6, 0.005, BuildStatus::ok, "", false};
  kernels["faster"] = FakeKernel{FakeBehaviour::honest, 1e6, 0.005, BuildStatus::ok, "", false};
  ScriptedSanitizer sanitizer;
  tools.sanitizers = {&sanitizer};
  open();
  EXPECT_THAT(verify("honest").verdict.gates_passed, ::testing::Contains(GateId::sanitize));
  verifier->promote();
  const auto slower = verify("slower");
  EXPECT_TRUE(slower.verdict.accepted());
  EXPECT_THAT(slower.verdict.gates_passed, ::testing::Not(::testing::Contains(GateId::sanitize)));
  EXPECT_EQ(sanitizer.runs, 1);
  sanitizer.finding = SanitizerFinding{"a race", false};
  const auto racing = verify("faster");
  EXPECT_EQ(racing.verdict.failed_gate, GateId::sanitize);
  EXPECT_EQ(racing.verdict.message, "a race");
  sanitizer.finding.reset();
  sanitizer.checked = false;
  EXPECT_THAT(verify("faster").verdict.gates_passed, ::testing::Not(::testing::Contains(GateId::sanitize)));
}

TEST_F(SanitizeGateTest, asks_a_tool_that_is_slow_to_start_about_everything_at_once) {
  ScriptedSanitizer sanitizer;
  sanitizer.enough = cost(problem, problem.primary()).flops * 0.9;
  sanitizer.at_once = true;
  tools.sanitizers = {&sanitizer};
  open();
  const auto clean = verify("honest");
  EXPECT_TRUE(clean.verdict.accepted()) << clean.verdict.message;
  EXPECT_THAT(clean.verdict.gates_passed, ::testing::Contains(GateId::sanitize));
  EXPECT_EQ(sanitizer.runs, 1);
  EXPECT_THAT(sanitizer.asked,
              ::testing::ElementsAre("2: 5 x 2", "launch 0: 6 first, 6 middle and 6 last of 40 groups"));
  EXPECT_THAT(evidence_of(clean, GateId::sanitize),
              ::testing::HasSubstr("primary: 6 first, 6 middle and 6 last of 40 groups: a note"));
  sanitizer.on_primary = SanitizerFinding{"a read behind K", false};
  EXPECT_EQ(verify("honest").verdict.message, "a read behind K");
  sanitizer.on_primary.reset();
  sanitizer.finding = SanitizerFinding{"a race", false};
  EXPECT_EQ(verify("honest").verdict.failed_gate, GateId::sanitize);
}

TEST_F(SanitizeGateTest, asks_every_tool_and_rejects_by_the_first_that_finds_something) {
  ScriptedSanitizer first;
  ScriptedSanitizer second;
  ScriptedSanitizer third;
  tools.sanitizers = {&first, &second, &third};
  first.checked = false;
  open();
  const auto clean = verify("honest");
  EXPECT_TRUE(clean.verdict.accepted()) << clean.verdict.message;
  EXPECT_THAT(clean.verdict.gates_passed, ::testing::Contains(GateId::sanitize)) << "the others have looked at it";
  second.finding = SanitizerFinding{"a race", false};
  third.finding = SanitizerFinding{"a read behind K", false};
  const auto rejected = verify("honest");
  EXPECT_EQ(rejected.verdict.message, "a race");
  EXPECT_THAT(evidence_of(rejected, GateId::sanitize), ::testing::HasSubstr("a note")) << "of the first";
  EXPECT_EQ(std::min({first.runs, second.runs, third.runs}), 2);
}

TEST_F(SanitizeGateTest, does_not_call_a_kernel_sanitized_for_a_part_of_its_primary) {
  ScriptedSanitizer sanitizer;
  sanitizer.enough = cost(problem, problem.primary()).flops * 0.9;
  sanitizer.most = 1;  // less than any workload has
  sanitizer.at_once = true;
  tools.sanitizers = {&sanitizer};
  open();
  const auto result = verify("honest");
  EXPECT_TRUE(result.verdict.accepted()) << result.verdict.message;
  EXPECT_THAT(sanitizer.asked, ::testing::ElementsAre("launch 0: 6 first, 6 middle and 6 last of 40 groups"));
  EXPECT_THAT(result.verdict.gates_passed, ::testing::Not(::testing::Contains(GateId::sanitize)));
}

}  // namespace
}  // namespace kw
