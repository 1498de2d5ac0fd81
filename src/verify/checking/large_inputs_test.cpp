#include "verify/checking/large_inputs.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "verify/testing/test_problem.hpp"

namespace kw {
namespace {

InputValues kept(const Problem& problem, std::uint64_t seed) {
  return make_inputs(problem, problem.primary(), Distribution::spikes, seed).value().values;
}

TEST(LargeInputs, are_what_was_drawn_for_the_same_seeds) {
  const Problem problem = small_problem();
  LargeInputs large(problem, serial_for, nullptr);
  for (const std::uint64_t seed : {5U, 6U, 5U})
    EXPECT_EQ(large.draw(0, Distribution::spikes, {seed}).value()->values, kept(problem, seed)) << seed;
}

TEST(LargeInputs, use_the_memory_of_those_that_nobody_holds) {
  const Problem problem = small_problem();
  LargeInputs large(problem, serial_for, nullptr);
  auto first = large.draw(0, Distribution::spikes, {5}).value();
  EXPECT_EQ(large.draw(0, Distribution::spikes, {5}).value(), first) << "nothing is drawn for the same seeds";
  const auto second = large.draw(0, Distribution::spikes, {6}).value();
  EXPECT_EQ(first->values, kept(problem, 5)) << "it was held";
  EXPECT_EQ(second->values, kept(problem, 6));
  const float* const memory = first->values.front().data();
  first.reset();
  auto other = large.draw(0, Distribution::spikes, {7}).value();
  EXPECT_EQ(other->values.front().data(), memory);
  other.reset();
  EXPECT_EQ(large.draw(0, Distribution::spikes, {8}).value()->values.front().data(), memory);
  EXPECT_EQ(second->values, kept(problem, 6));
}

TEST(LargeInputs, differ_by_workload_and_distribution) {
  const Problem problem = small_problem();
  LargeInputs large(problem, serial_for, nullptr);
  const auto first = large.draw(0, Distribution::spikes, {5}).value();
  EXPECT_NE(large.draw(0, Distribution::late, {5}).value()->values, first->values);
  EXPECT_NE(large.draw(1, Distribution::spikes, {5}).value()->values, first->values);
}

/// Operands of more bytes than a host copies to a device that can draw them.
TEST(LargeInputs, are_drawn_in_parts_for_whoever_reads_parts_and_whole_for_the_next) {
  const auto problem = with_axes(small_problem(), {"Sq=8192", "Skv=8192", "D=64", "Dv=64"});
  ASSERT_TRUE(problem) << problem.error().to_string();
  LargeInputs large(*problem, serial_for, nullptr);
  const OperandReads reads = {{{0, 64}}, {{64, 128}}, {{0, 64}}};
  const auto part = large.draw(0, Distribution::normal, {5}, &reads).value();
  const auto whole = large.draw(0, Distribution::normal, {5}).value();
  ASSERT_NE(part, whole) << "what was drawn in parts is no answer to who wants all";
  EXPECT_EQ(whole->values, make_inputs(*problem, problem->primary(), Distribution::normal, 5).value().values);
  EXPECT_FALSE(part->random[1].value().all_drawn);
  EXPECT_TRUE(whole->random[1].value().all_drawn);
  for (std::size_t i = 64; i < 128; ++i) ASSERT_EQ(part->values[1][i], whole->values[1][i]);
  EXPECT_NE(part->values[1], whole->values[1]);
  EXPECT_EQ(large.draw(0, Distribution::normal, {5}, &reads).value(), whole) << "who has all has the parts";
}

/// A long part is drawn by several threads, and one that is all of an operand is as good as all.
TEST(LargeInputs, are_drawn_in_long_parts) {
  const auto problem = with_axes(small_problem(), {"Sq=8192", "Skv=8192", "D=64", "Dv=64"});
  ASSERT_TRUE(problem) << problem.error().to_string();
  const auto all = element_count(problem->inputs[0], problem->primary().axes).value();
  const OperandReads reads = {{{0, all}}, {{100, all - 100}}, {{0, all / 2}, {all / 2 + 1, all}}};
  std::int64_t most_parts = 0;
  const ParallelFor parallel = [&](std::int64_t count, const std::function<void(std::int64_t)>& body) {
    most_parts = std::max(most_parts, count);
    serial_for(count, body);
  };
  LargeInputs large(*problem, parallel, nullptr);
  const auto part = large.draw(0, Distribution::normal, {5}, &reads).value();
  const auto whole = make_inputs(*problem, problem->primary(), Distribution::normal, 5).value().values;
  EXPECT_TRUE(part->random[0].value().all_drawn);
  EXPECT_FALSE(part->random[1].value().all_drawn);
  EXPECT_EQ(part->values[0], whole[0]);
  for (std::int64_t i = 0; i < all; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (i >= 100 && i < all - 100) {
      ASSERT_EQ(part->values[1][at], whole[1][at]) << i;
    }
    if (i != all / 2) {
      ASSERT_EQ(part->values[2][at], whole[2][at]) << i;
    }
  }
  EXPECT_GT(most_parts, 2);
}

/// Queries of 8 heads that share keys of 4, worth drawing in parts, and a function that favours the last keys.
Problem leaning_problem() {
  auto problem = parse_problem(R"(
name = "test/leaning"
op = "attention"
description = "later keys count more"
[axes]
B = 1
Hq = 8
Hkv = 4
Sq = 4096
Skv = 8192
D = 64
[attention]
dtype = "f16"
score_mod = "lambda s, b, h, q, k: s + k * 0.001"
[[workload]]
name = "odd"
role = "edge"
Sq = 7
)",
                               "leaning.toml");
  KW_CHECK(problem.has_value(), "{}", problem.error().to_string());
  return *std::move(problem);
}

/// The first elements of queries and keys make up for the function: of what they give and of what it adds the sum is
/// the same for every key.
TEST(LargeInputs, are_levelled_by_their_first_elements) {
  const Problem problem = leaning_problem();
  const auto all = all_distributions(problem);
  const auto level = std::ranges::find(all, "level", &Distribution::name);
  ASSERT_NE(level, all.end());
  const auto drawn = make_inputs(problem, problem.primary(), *level, 5);
  ASSERT_TRUE(drawn) << drawn.error().to_string();
  const auto normal = make_inputs(problem, problem.primary(), Distribution::normal, 5).value();
  for (const std::size_t operand : {0U, 1U}) {
    const auto& firsts = *drawn->random[operand].value().firsts;
    auto values = normal.values[operand];
    set_first_of_rows(values, firsts, 64, 0);
    EXPECT_EQ(drawn->values[operand], values);
  }
  EXPECT_EQ(drawn->random[2].value().firsts, nullptr);
  EXPECT_EQ(drawn->values[2], normal.values[2]);
  for (const std::size_t slice : {0U, 3U}) {
    const float query = drawn->values[0][slice * 2 * 4096 * 64];
    for (const std::size_t key : {0U, 1U, 4000U, 8191U}) {
      const float product = query * drawn->values[1][(slice * 8192 + key) * 64] / 8;
      EXPECT_NEAR(static_cast<double>(product) + 0.001 * static_cast<double>(key), 0.001 * 8191 / 2, 5e-3) << key;
    }
  }
}

/// Parts begin and end within rows.
TEST(LargeInputs, are_levelled_in_parts) {
  const Problem problem = leaning_problem();
  const auto all = all_distributions(problem);
  const Distribution level = *std::ranges::find(all, "level", &Distribution::name);
  const OperandReads reads = {{{64, 200}}, {{70, 128}, {130, 131}, {192, 193}}, {{0, 64}}};
  LargeInputs large(problem, serial_for, nullptr);
  const auto part = large.draw(0, level, {5}, &reads).value();
  const auto whole = make_inputs(problem, problem.primary(), level, 5).value();
  for (const std::size_t operand : {0U, 1U, 2U}) {
    EXPECT_FALSE(part->random[operand].value().all_drawn);
    for (const ElementRange& range : reads[operand]) {
      for (auto i = static_cast<std::size_t>(range.begin); i < static_cast<std::size_t>(range.end); ++i) {
        ASSERT_EQ(part->values[operand][i], whole.values[operand][i]) << operand << ", " << i;
      }
    }
  }
}

}  // namespace
}  // namespace kw
