#include "verify/checking/large_inputs.hpp"

#include <gtest/gtest.h>

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

TEST(LargeInputs, use_the_memory_of_the_last_unless_somebody_holds_it) {
  const Problem problem = small_problem();
  LargeInputs large(problem, serial_for, nullptr);
  auto first = large.draw(0, Distribution::spikes, {5}).value();
  EXPECT_EQ(large.draw(0, Distribution::spikes, {5}).value(), first) << "nothing is drawn for the same seeds";
  const auto second = large.draw(0, Distribution::spikes, {6}).value();
  EXPECT_EQ(first->values, kept(problem, 5)) << "it was held";
  EXPECT_EQ(second->values, kept(problem, 6));
  const float* const memory = second->values.front().data();
  first.reset();
  auto other = large.draw(0, Distribution::spikes, {7}).value();
  EXPECT_NE(other->values.front().data(), memory);
  const float* const last = other->values.front().data();
  other.reset();
  EXPECT_EQ(large.draw(0, Distribution::spikes, {8}).value()->values.front().data(), last);
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

}  // namespace
}  // namespace kw
