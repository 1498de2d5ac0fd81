#include "verify/fresh_data.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "verify/test_problem.hpp"

namespace kw {
namespace {

TEST(FreshData, has_the_answer_that_the_oracle_gives) {
  const auto problem = small_problem();
  const auto suite = CheckSuite::make(problem, 3, serial_for);
  ASSERT_TRUE(suite);
  Rng rng(5);
  for (const auto& one : suite->cases()) {
    const CheckCase fresh = with_fresh_data(problem, one, rng);
    const auto answer = evaluate_oracle(problem, problem.workloads[one.workload], fresh.inputs);
    ASSERT_TRUE(answer);
    for (std::size_t output = 0; output < answer->size(); ++output) {
      for (std::size_t i = 0; i < (*answer)[output].size(); ++i) {
        const double expected = (*answer)[output][i];
        ASSERT_NEAR(fresh.expected[output][i], expected, 1e-9 * (1.0 + std::abs(expected)))
            << problem.workloads[one.workload].name << ", " << to_string(one.distribution) << ", element " << i;
      }
    }
  }
}

TEST(FreshData, never_comes_twice) {
  const auto problem = small_problem();
  const auto suite = CheckSuite::make(problem, 3, serial_for);
  ASSERT_TRUE(suite);
  Rng rng(5);
  const auto& one = suite->cases().front();
  const CheckCase first = with_fresh_data(problem, one, rng);
  const CheckCase second = with_fresh_data(problem, one, rng);
  for (std::size_t input = 0; input < 3; ++input) {
    EXPECT_NE(first.inputs[input], one.inputs[input]);
    EXPECT_NE(first.inputs[input], second.inputs[input]);
  }
  EXPECT_NE(first.expected, second.expected);
}

}  // namespace
}  // namespace kw
