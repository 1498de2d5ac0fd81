#include "verify/checking/simulator_report.hpp"

#include <gtest/gtest.h>

namespace kw {
namespace {

TEST(SimulatorReport, names_kind_and_line_without_sizes_and_keeps_the_sentence) {
  const auto finding = first_simulator_finding(
      "noise\nkernelwright-sim: race: thread (3, 0, 0) of block (7, 0, 0) writes shared memory that thread (1, 0, 0) "
      "of "
      "the same block read with no barrier between, line 31\nkernelwright-sim: misaligned: other, line 4\n");
  ASSERT_TRUE(finding.has_value());
  EXPECT_EQ(finding->summary, "the simulator found: race, line 31");
  EXPECT_EQ(
      finding->text,
      "race: thread (3, 0, 0) of block (7, 0, 0) writes shared memory that thread (1, 0, 0) of the same block read "
      "with no barrier between, line 31");
}

TEST(SimulatorReport, names_both_lines_of_a_race) {
  const auto finding = first_simulator_finding(
      "kernelwright-sim: race: thread (3, 0, 0) of block (7, 0, 0) writes element 129 of O that thread (1, 0, 0) of "
      "the "
      "same block read at line 29 with no barrier between, line 31\n");
  ASSERT_TRUE(finding.has_value());
  EXPECT_EQ(finding->summary, "the simulator found: race, line 29 and line 31");
}

TEST(SimulatorReport, is_nothing_without_a_line_of_the_simulators) {
  EXPECT_FALSE(first_simulator_finding("").has_value());
  EXPECT_FALSE(first_simulator_finding("kernelwright-simulator: race\n").has_value());
}

TEST(SimulatorReport, of_hostile_output_is_printable_and_short) {
  const auto finding = first_simulator_finding("kernelwright-sim: \x1b[31m" + std::string(100000, 'a'));
  ASSERT_TRUE(finding.has_value());
  EXPECT_LE(finding->text.size(), 400U);
  EXPECT_EQ(finding->text.find('\x1b'), std::string::npos);
  EXPECT_LE(finding->summary.size(), 450U);
}

}  // namespace
}  // namespace kw
