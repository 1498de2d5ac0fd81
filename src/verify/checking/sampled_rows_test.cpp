#include "verify/checking/sampled_rows.hpp"

#include <gtest/gtest.h>

#include "verify/testing/test_problem.hpp"

namespace kw {
namespace {

std::size_t rows_of(const AnswerWork& all, const AnswerWork& affordable) {
  Rng rng(3);
  const auto rows = sampled_rows(4096, all, affordable, rng);
  EXPECT_EQ(rows.front(), 0);
  EXPECT_EQ(rows.back(), 4095);
  return rows.size();
}

TEST(SampledRows, are_as_many_as_flops_and_elements_pay_for) {
  EXPECT_EQ(rows_of({1e9, 1e6}, {1e8, 1e6}), 409U);
  EXPECT_EQ(rows_of({1e6, 1e6}, {1e8, 1e5}), 409U) << "elements cost though they take no arithmetic";
  EXPECT_EQ(rows_of({1e6, 1e6}, {1e6, 1e6}), 4096U);
}

TEST(SampledRows, are_never_fewer_than_32) {
  EXPECT_EQ(rows_of({1e12, 1e6}, {1e6, 1e6}), 32U);
  EXPECT_EQ(rows_of({1e6, 1e12}, {1e6, 1e6}), 32U);
}

TEST(SampledRows, are_more_where_more_are_asked_for) {
  Rng rng(3);
  EXPECT_EQ(sampled_rows(4096, {1e12, 1e6}, {1e6, 1e6}, rng, 80).size(), 80U);
  EXPECT_EQ(sampled_rows(50, {1e12, 1e6}, {1e6, 1e6}, rng, 80).size(), 50U) << "all there are";
}

TEST(SampledRows, count_the_elements_of_all_outputs) {
  const Problem problem = small_problem();
  const auto work = whole_answer_work(problem, problem.primary(), 5e3);
  EXPECT_EQ(work.flops, 5e3);
  EXPECT_EQ(work.elements, 2 * 20 * 8);
}

}  // namespace
}  // namespace kw
