#include "verify/checking/sampled_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "verify/testing/test_problem.hpp"

namespace kw {
namespace {

std::size_t rows_of(const AnswerWork& all, const AnswerWork& affordable) {
  Rng rng(3);
  const auto rows = sampled_rows({.rows = 4096, .apart = all}, affordable, rng);
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
  const AnswerWork all{1e12, 1e6};
  const AnswerWork affordable{1e6, 1e6};
  EXPECT_EQ(sampled_rows({.rows = 4096, .apart = all}, affordable, rng, 80).size(), 80U);
  EXPECT_EQ(sampled_rows({.rows = 50, .apart = all}, affordable, rng, 80).size(), 50U) << "all there are";
}

TEST(SampledRows, lie_in_as_many_slices_as_are_asked_for) {
  Rng rng(3);
  AnswerRows of{.rows = 4096, .slices = 64, .fewest_slices = 8, .most_slices = 8, .apart = {1e9, 1e6}};
  const AnswerWork affordable{1e7, 1e6};
  const auto rows = sampled_rows(of, affordable, rng);
  EXPECT_EQ(rows.size(), 40U);
  EXPECT_TRUE(std::ranges::is_sorted(rows));
  EXPECT_EQ(rows.front(), 0);
  EXPECT_EQ(rows.back(), 4095);
  const auto slices_of = [](const std::vector<std::int64_t>& some) {
    std::set<std::int64_t> slices;
    for (const std::int64_t row : some) slices.insert(row / 64);
    return slices;
  };
  EXPECT_EQ(slices_of(rows).size(), 8U);
  EXPECT_NE(slices_of(sampled_rows(of, affordable, rng)), slices_of(rows)) << "each case has its own";
  of.fewest_slices = 64;
  EXPECT_GT(slices_of(sampled_rows(of, affordable, rng)).size(), 20U) << "in all of them";
}

TEST(SampledRows, lie_in_as_many_slices_as_can_be_paid_for) {
  Rng rng(3);
  const AnswerRows of{.rows = 4096, .slices = 64, .fewest_slices = 4, .most_slices = 32, .apart = {6.4e9, 1e6}};
  const auto slices_for = [&](double flops) {
    std::set<std::int64_t> slices;
    for (const std::int64_t row : sampled_rows(of, {flops, 1e9}, rng, 4096)) slices.insert(row / 64);
    return slices.size();
  };
  EXPECT_EQ(slices_for(1e7), 4U);
  EXPECT_EQ(slices_for(1e9), 10U);
  EXPECT_EQ(slices_for(6e9), 32U);
}

TEST(SampledRows, lie_where_a_slice_has_them) {
  Rng rng(3);
  const auto every_64th = [](std::int64_t slice, std::int64_t place) { return place * 64 + slice; };
  const auto rows = sampled_rows(
      {.rows = 4096, .slices = 64, .fewest_slices = 2, .most_slices = 2, .apart = {1e9, 1e6}, .row_of = every_64th},
      {1e7, 1e6}, rng);
  EXPECT_TRUE(std::ranges::is_sorted(rows));
  for (const std::int64_t row : rows) EXPECT_TRUE(row % 64 == 0 || row % 64 == 63) << row;
}

TEST(SampledRows, count_the_elements_of_all_outputs) {
  const Problem problem = small_problem();
  const auto work = whole_answer_work(problem, problem.primary(), 5e3);
  EXPECT_EQ(work.flops, 5e3);
  EXPECT_EQ(work.elements, 2 * 20 * 8);
}

}  // namespace
}  // namespace kw
