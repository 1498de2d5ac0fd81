// What a deadline cuts off is undecided, and nothing goes on behind it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "verify/baseline_opening.hpp"
#include "verify/testing/verifier_fixture.hpp"

namespace kw {
namespace {

class DeadlineTest : public VerifierTest {};

TEST_F(DeadlineTest, leaves_undecided_what_its_deadline_cuts_off) {
  kernels["slow"] = FakeKernel{FakeBehaviour::honest, 300e6, 0, BuildStatus::ok, "", false};
  kernels["hanging"] = FakeKernel{FakeBehaviour::hangs, 2e6, 0, BuildStatus::ok, "", false};
  kernels["building"] = FakeKernel{FakeBehaviour::honest, 2e6, 0, BuildStatus::ok, "", true};
  open();
  const struct {
    const char* source;
    GateId gate;
  } cases[] = {{"slow", GateId::check}, {"hanging", GateId::check}, {"building", GateId::build}};
  for (const auto& one : cases) {
    SCOPED_TRACE(one.source);
    const Duration budget = std::chrono::milliseconds(500);
    const Instant deadline = clock.now() + budget;
    const auto result = verifier->verify(small_candidate(one.source), budget);
    EXPECT_EQ(result.verdict.status, VerdictStatus::unverified);
    EXPECT_EQ(result.verdict.failed_gate, one.gate);
    EXPECT_THAT(result.verdict.message, testing::HasSubstr("not decided, the budget ended during it"));
    EXPECT_FALSE(result.measurement.has_value());
    EXPECT_LT(to_seconds(clock.now() - deadline), 0.05);
  }
  EXPECT_EQ(verify("slow").verdict.status, VerdictStatus::accepted) << "the deadline is for one candidate";
}

TEST_F(DeadlineTest, a_deadline_excuses_nothing_that_happens_before_it) {
  kernels["hanging"] = FakeKernel{FakeBehaviour::hangs, 2e6, 0, BuildStatus::ok, "", false};
  kernels["wrong"] = FakeKernel{FakeBehaviour::writes_zeros, 2e6, 0, BuildStatus::ok, "", false};
  open();
  for (const char* source : {"hanging", "wrong"}) {
    const auto result = verifier->verify(small_candidate(source), std::chrono::seconds(20));
    EXPECT_EQ(result.verdict.status, VerdictStatus::rejected) << source;
  }
}

TEST_F(DeadlineTest, begins_no_timing_behind_its_deadline) {
  kernels["last"] = FakeKernel{FakeBehaviour::honest, 100e6, 0, BuildStatus::ok, "", false};
  open();
  // A build of 100 ms, a start of 10, two launches of 100 on five cases, one on another and two of 10 on ten, with 0.02
  // for each request: the last launch ends in time, and its request just after.
  const auto result = verifier->verify(small_candidate("last"), std::chrono::microseconds(1'410'610));
  EXPECT_EQ(result.verdict.status, VerdictStatus::unverified);
  EXPECT_EQ(result.verdict.failed_gate, GateId::time) << result.verdict.message;
}

TEST_F(DeadlineTest, stops_timing_at_its_deadline) {
  kernels["champion"] = FakeKernel{FakeBehaviour::honest, 101e6, 0, BuildStatus::ok, "", false};
  kernels["last"] = FakeKernel{FakeBehaviour::honest, 100e6, 0, BuildStatus::ok, "", false};
  open();
  // As above, and with 350 ms of timing, where alone it takes a second and against a champion more.
  const Duration budget = std::chrono::microseconds(1'760'610);
  for (const bool alone : {true, false}) {
    SCOPED_TRACE(alone);
    const Instant deadline = clock.now() + budget;
    const auto result = verifier->verify(small_candidate("last"), budget);
    EXPECT_EQ(result.verdict.status, VerdictStatus::unverified);
    EXPECT_EQ(result.verdict.failed_gate, GateId::time) << result.verdict.message;
    EXPECT_THAT(result.verdict.message, testing::HasSubstr("not decided, the budget ended during it"));
    EXPECT_FALSE(result.measurement.has_value());
    EXPECT_LT(to_seconds(clock.now() - deadline), 0.01);
    if (!alone) continue;
    ASSERT_TRUE(verify("champion").verdict.accepted());
    verifier->promote();
  }
}

TEST_F(DeadlineTest, does_not_blame_the_champion_where_the_budget_ends_in_its_launch) {
  kernels["champion"] = FakeKernel{FakeBehaviour::honest, 101e6, 0, BuildStatus::ok, "", false};
  kernels["last"] = FakeKernel{FakeBehaviour::honest, 100e6, 0, BuildStatus::ok, "", false};
  open();
  ASSERT_TRUE(verify("champion").verdict.accepted());
  verifier->promote();
  // Of pairs of 201 ms, some budgets end in the one's launch and some in the other's.
  for (int timing = 250; timing <= 650; timing += 50) {
    SCOPED_TRACE(timing);
    const auto budget = std::chrono::microseconds(1'410'610) + std::chrono::milliseconds(timing);
    const auto result = verifier->verify(small_candidate("last"), budget);
    EXPECT_EQ(result.verdict.failed_gate, GateId::time);
    EXPECT_THAT(result.verdict.message, testing::HasSubstr("not decided, the budget ended during it"));
    EXPECT_THAT(result.verdict.message, testing::Not(testing::HasSubstr("incumbent")));
  }
}

TEST_F(DeadlineTest, gives_up_opening_at_its_deadline) {
  VerifierOptions options;
  options.secret_seed = 7;
  options.device = backend.device();
  options.plain = small_candidate("plain");
  options.opening_deadline = clock.now() + std::chrono::milliseconds(125);
  kernels["plain"].behaviour = FakeBehaviour::hangs;
  const auto opened = LocalVerifier::open(problem, backend, clock, std::move(options));
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, errc::out_of_time);
  EXPECT_EQ(opened.error().message, "the budget ended while the plain kernel was being checked, before any candidate");
  EXPECT_EQ(opened.error().hint, "give the run more time, such as --budget 5m");
}

TEST_F(DeadlineTest, says_where_the_plain_kernel_takes_longer_than_any_launch_may) {
  VerifierOptions options;
  options.secret_seed = 7;
  options.device = backend.device();
  options.plain = small_candidate("plain");
  kernels["plain"].behaviour = FakeBehaviour::hangs;
  const auto opened = LocalVerifier::open(problem, backend, clock, std::move(options));
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, errc::out_of_time);
  EXPECT_EQ(opened.error().message,
            "the plain kernel, which every candidate is compared with, takes more than 30 s for a launch on workload "
            "primary");
  EXPECT_EQ(opened.error().hint, "make the primary workload smaller: with --set, or with --fit for a module");
}

TEST_F(DeadlineTest, does_not_call_a_busy_machine_a_defect) {
  kernels["plain"].build_hangs = true;
  backend.make_busy(100);
  VerifierOptions options;
  options.secret_seed = 7;
  options.device = backend.device();
  options.plain = small_candidate("plain");
  const auto opened = LocalVerifier::open(problem, backend, clock, std::move(options));
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, errc::worker_failed);
  EXPECT_EQ(opened.error().message,
            "the plain kernel could not be built: the machine was too busy to compile it: killed at the deadline");
  EXPECT_EQ(opened.error().hint, "run the command again when the machine has less to do");
}

TEST_F(DeadlineTest, says_after_one_launch_that_the_budget_is_too_short) {
  VerifierOptions options;
  options.secret_seed = 7;
  options.device = backend.device();
  options.plain = small_candidate("plain");
  options.opening_deadline = clock.now() + std::chrono::milliseconds(125);
  const auto opened = LocalVerifier::open(problem, backend, clock, std::move(options));
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, errc::out_of_time);
  EXPECT_THAT(
      opened.error().message,
      ::testing::StartsWith("the budget is too short: the plain kernel takes 0.01 s a launch, and is launched 8 "));
  EXPECT_EQ(opened.error().hint,
            "give the run more time, such as --budget 10m, or make the primary workload smaller with --set");
  EXPECT_LT(clock.now(), Instant{} + std::chrono::milliseconds(125)) << "it did not wait for the end";
}

}  // namespace
}  // namespace kw
