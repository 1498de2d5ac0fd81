#include "suite/kernelbench_judge.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "verify/testing/fake_backend.hpp"
#include "verify/testing/test_problem.hpp"

namespace kw {
namespace {

constexpr double k_inf = std::numeric_limits<double>::infinity();
constexpr double k_none = std::numeric_limits<double>::quiet_NaN();

bool close(double right, double given) {
  return closeness(std::vector{right}, std::vector{given}, 1e-4).all_close;
}

TEST(KernelBenchJudge, is_close_as_its_rule_says) {
  EXPECT_TRUE(close(0.0, 0.9e-4)) << "absolute";
  EXPECT_FALSE(close(0.0, 1.1e-4));
  EXPECT_TRUE(close(1000.0, 1000.09)) << "and relative";
  EXPECT_FALSE(close(1000.0, 1000.2));
  EXPECT_TRUE(close(-k_inf, -k_inf));
  EXPECT_FALSE(close(k_inf, -k_inf));
  EXPECT_FALSE(close(1.0, k_inf)) << "infinitely far, whatever is relative to it";
  EXPECT_FALSE(close(1.0, k_none));
  EXPECT_FALSE(close(k_none, k_none));
  EXPECT_FALSE(closeness(std::vector{1.0}, std::vector{1.0, 2.0}, 1e-4).all_close);
  EXPECT_DOUBLE_EQ(closeness(std::vector{1.0, 2.0}, std::vector{1.5, 2.0}, 1e-4).worst_difference, 0.5);
}

KernelBenchVerdict judged(FakeBehaviour behaviour) {
  const Problem problem = small_problem();
  FakeClock clock;
  FakeBackend backend(problem, clock, [behaviour](const BuildRequest&) {
    FakeKernel kernel;
    kernel.behaviour = behaviour;
    return kernel;
  });
  return judge_by_kernelbench(problem, {backend, clock, "opencl", ""});
}

TEST(KernelBenchJudge, takes_a_right_kernel_five_times) {
  const auto verdict = judged(FakeBehaviour::honest);
  EXPECT_TRUE(verdict.correct()) << verdict.not_judged;
  EXPECT_EQ(verdict.trials, 5);
  EXPECT_LT(verdict.worst_difference, 1e-4);
  EXPECT_GT(verdict.median_ns.value(), 0);
}

TEST(KernelBenchJudge, refuses_a_wrong_kernel_and_says_when_it_could_not_judge) {
  const auto zeros = judged(FakeBehaviour::writes_zeros);
  EXPECT_FALSE(zeros.correct());
  EXPECT_EQ(zeros.passed, 0);
  EXPECT_EQ(zeros.not_judged, "");
  const auto lost = judged(FakeBehaviour::crashes);
  EXPECT_FALSE(lost.correct());
  EXPECT_NE(lost.not_judged, "");
}

TEST(KernelBenchJudge, does_not_judge_what_the_oracle_cannot_answer_in_time) {
  Problem problem = small_problem();
  for (const char* axis : {"Sq", "Skv"}) problem.workloads.front().axes[axis] = 1 << 16;
  FakeClock clock;
  FakeBackend backend(problem, clock, [](const BuildRequest&) { return FakeKernel{}; });
  const auto verdict = judge_by_kernelbench(problem, {backend, clock, "opencl", ""});
  EXPECT_THAT(verdict.not_judged, testing::HasSubstr("--fit makes the problem smaller"));
}

}  // namespace
}  // namespace kw
