#include "verify/checking/sampled_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

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

TEST(SampledRows, lie_in_as_many_slices_as_are_asked_for) {
  Rng rng(3);
  const auto rows = rows_of_slices(4096, 64, 8, {1e9, 1e6}, {1e7, 1e6}, rng);
  EXPECT_EQ(rows.size(), 40U);
  EXPECT_TRUE(std::ranges::is_sorted(rows));
  EXPECT_EQ(rows.front(), 0);
  EXPECT_EQ(rows.back(), 4095);
  std::set<std::int64_t> slices;
  for (const std::int64_t row : rows) slices.insert(row / 64);
  EXPECT_EQ(slices.size(), 8U);
  std::set<std::int64_t> others;
  for (const std::int64_t row : rows_of_slices(4096, 64, 8, {1e9, 1e6}, {1e7, 1e6}, rng)) others.insert(row / 64);
  EXPECT_NE(others, slices) << "each case has its own";
  Rng one(5);
  Rng other(5);
  EXPECT_EQ(rows_of_slices(4096, 8, 8, {1e9, 1e6}, {1e7, 1e6}, one), sampled_rows(4096, {1e9, 1e6}, {1e7, 1e6}, other))
      << "in all of them";
}

TEST(SampledRows, count_the_elements_of_all_outputs) {
  const Problem problem = small_problem();
  const auto work = whole_answer_work(problem, problem.primary(), 5e3);
  EXPECT_EQ(work.flops, 5e3);
  EXPECT_EQ(work.elements, 2 * 20 * 8);
}

}  // namespace
}  // namespace kw
