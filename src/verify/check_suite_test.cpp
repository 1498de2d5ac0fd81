#include "verify/check_suite.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <span>

#include "verify/accuracy.hpp"
#include "verify/test_problem.hpp"

namespace kw {
namespace {

TEST(CheckSuite, covers_every_workload_under_every_distribution) {
  const auto problem = small_problem();
  const auto suite = CheckSuite::make(problem, 1, serial_for);
  ASSERT_TRUE(suite);
  // Two timing cases are the primary's normal data; the rest is workloads x distributions without that one.
  EXPECT_EQ(suite->cases().size(), 2 + 3 * 4 - 1);
  EXPECT_NE(suite->cases()[0].inputs, suite->cases()[1].inputs) << "timing data must be fresh";
}

TEST(CheckSuite, data_repeats_for_a_seed_and_differs_between_seeds) {
  const auto problem = small_problem();
  const auto& workload = problem.primary();
  for (const auto distribution : all_distributions()) {
    const auto a = make_inputs(problem, workload, distribution, 5).value();
    EXPECT_EQ(a, make_inputs(problem, workload, distribution, 5).value());
    EXPECT_NE(a, make_inputs(problem, workload, distribution, 6).value());
  }
}

TEST(CheckSuite, a_problem_that_zeros_would_pass_is_refused) {
  auto problem = small_problem();
  auto suite = CheckSuite::make(problem, 1, serial_for);
  ASSERT_TRUE(suite);
  const std::vector<std::vector<double>> honest(suite->cases().size(), {1e-7});
  suite->allow_errors(honest);
  EXPECT_TRUE(suite->require_scorable(problem));
  const std::vector<std::vector<double>> hopeless(suite->cases().size(), {1e9});
  suite->allow_errors(hopeless);
  const auto refused = suite->require_scorable(problem);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::unscorable);
  EXPECT_EQ(refused.error().message, "test/causal cannot be scored: all zeros as O passes every check");
}

TEST(Accuracy, is_relative_to_the_row_so_that_small_rows_count) {
  const std::vector<double> reference = {100, 100, 0.1, 0.1};
  const std::vector<float> values = {100, 100, 0.1F, 0.2F};
  const auto error = measure_error(std::as_bytes(std::span(values)), 0xffffffffU, reference, 2, 0.1);
  EXPECT_EQ(error.worst, 3);
  EXPECT_GT(error.max_error, 0.5);
  EXPECT_EQ(error.over, 1);
}

TEST(Accuracy, counts_poison_and_what_is_not_finite) {
  const std::vector<double> reference = {1, 1, 1};
  std::vector<float> values = {1, std::numeric_limits<float>::infinity(), 1};
  const std::uint32_t poison = 0x7f7fabcdU;
  std::memcpy(&values[2], &poison, sizeof poison);
  const auto error = measure_error(std::as_bytes(std::span(values)), poison, reference, 3, 1e-6);
  EXPECT_EQ(error.unwritten, 1);
  EXPECT_EQ(error.not_finite, 1);
  EXPECT_EQ(error.over, 2);
}

}  // namespace
}  // namespace kw
