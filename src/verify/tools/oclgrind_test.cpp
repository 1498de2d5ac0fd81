#include "verify/tools/oclgrind.hpp"

#include <gtest/gtest.h>

namespace kw {
namespace {

const std::string k_race =
    "\nRead-write data race at local memory address 0x1000000000000\n\tKernel: k\n\n\tFirst entity:  "
    "Global(0,0,0)\n\tAt "
    "line 3 (column 5) of input.cl:\n\t  x = part[0];\n";
const std::string k_uninitialised =
    "\nControlflow depends on uninitialized value\n\tKernel: k\n\tEntity: Global(0,0,0)\n\t  br i1 %c\n\tAt line 1 "
    "(column 9) of input.cl:\n\t  if (f[0] == 1)\n";
const std::string k_tool_failure =
    "\nOCLGRIND FATAL ERROR (./src/plugins/Uninitialized.cpp:1805)\nUnsupported instruction: freeze\n\tKernel: k\n\t"
    "Entity: Global(0,0,0)\n";

TEST(Oclgrind, a_finding_is_one_line_with_its_place) {
  const auto finding = first_finding("noise\n" + k_race + k_race);
  ASSERT_TRUE(finding);
  EXPECT_FALSE(finding->uninitialised);
  EXPECT_EQ(finding->text.substr(0, 60), "Read-write data race at local memory address 0x1000000000000");
  EXPECT_NE(finding->text.find("At line 3"), std::string::npos) << finding->text;
  EXPECT_EQ(finding->text.find('\n'), std::string::npos);
}

TEST(Oclgrind, a_race_has_the_lines_of_both_sides) {
  const auto finding = first_finding(
      "\nRead-write data race at local memory address 0x1000000000000\n\tKernel: k\n\n\tFirst entity:  "
      "Global(0,0,0)\n\t"
      "  %1 = load float, float addrspace(3)* %a, align 4\n\tAt line 3 (column 5) of input.cl:\n\t  x = part[0];\n\n\t"
      "Second entity: Global(1,0,0)\n\t  store float %2\n\tAt line 7 (column 9) of input.cl:\n\t  part[0] = y;\n");
  ASSERT_TRUE(finding);
  EXPECT_EQ(
      finding->text,
      "Read-write data race at local memory address 0x1000000000000 Kernel: k First entity: Global(0,0,0) At line "
      "3 (column 5) of input.cl: Second entity: Global(1,0,0) At line 7 (column 9) of input.cl:");
  EXPECT_EQ(summary_of(*finding), "a sanitizer finding: a data race, line 3 and line 7")
      << "what a model may know of a held-out workload";
}

TEST(Oclgrind, a_race_says_what_its_sides_have_to_do) {
  const auto found = [](const std::string& memory, const std::string& first, const std::string& second) {
    return first_finding("\nRead-write data race at " + memory +
                         " memory address 0x10\n\tKernel: k\n\n\tFirst entity:  " + first +
                         "\n\tAt line 3 (column 5) of input.cl:\n\t  x\n\n\tSecond entity: " + second +
                         "\n\tAt line 7 (column 9) of input.cl:\n\t  y\n")
        ->text;
  };
  const std::string one = "Global(3,0,0) Local(3,0,0) Group(0,0,0)";
  EXPECT_EQ(found("global", one, "Global(4,0,0) Local(0,0,0) Group(1,0,0)"),
            "Read-write data race at global memory address 0x10 Kernel: k First entity: " + one +
                " At line 3 (column 5) of input.cl: Second entity: Global(4,0,0) Local(0,0,0) Group(1,0,0) At line 7 "
                "(column 9) of input.cl: Groups of one launch have no order, whatever they count: write and read what "
                "other groups need by atomic operations (atomic_xchg, and atomic_or with 0), or read it in a second "
                "launch.");
  EXPECT_EQ(found("local", one, "Global(0,0,0) Local(0,0,0) Group(0,0,0)"),
            "Read-write data race at local memory address 0x10 Kernel: k First entity: " + one +
                " At line 3 (column 5) of input.cl: Second entity: Global(0,0,0) Local(0,0,0) Group(0,0,0) At line 7 "
                "(column 9) of input.cl: Work-items of one group need a barrier between the two.");
}

TEST(Oclgrind, nothing_is_found_in_silence_or_other_text) {
  EXPECT_FALSE(first_finding(""));
  EXPECT_FALSE(first_finding("Kernel: k\nAt line 3\n"));
}

TEST(Oclgrind, a_certain_finding_comes_before_one_about_uninitialised_values) {
  const auto only = first_finding(k_uninitialised);
  ASSERT_TRUE(only);
  EXPECT_TRUE(only->uninitialised);
  const auto both = first_finding(k_uninitialised + k_race);
  ASSERT_TRUE(both);
  EXPECT_FALSE(both->uninitialised);
}

TEST(Oclgrind, what_the_tool_cannot_interpret_is_no_finding) {
  EXPECT_FALSE(first_finding(k_tool_failure));
  EXPECT_TRUE(first_finding(k_tool_failure + k_race));
}

TEST(Oclgrind, a_refused_build_is_a_finding_of_its_last_line) {
  const auto finding = finding_of_build(
      "warning: kernel.cl:3:4: \033[1munused\nfunction k, line 7, turns a pointer into a number: index "
      "buffers. A kernel may not depend on where its buffers lie\033");
  EXPECT_EQ(finding.text,
            "function k, line 7, turns a pointer into a number: index buffers. A kernel may not depend on where its "
            "buffers lie");
  EXPECT_FALSE(finding.uninitialised);
  EXPECT_EQ(summary_of(finding), "a sanitizer finding: an address used as a number, line 7");
}

TEST(Oclgrind, its_word_on_uninitialised_values_counts_without_vectors_only) {
  EXPECT_TRUE(uninitialised_findings_hold("__kernel void k(__global float* x, int n16) { x[0] = n16; }"));
  EXPECT_FALSE(uninitialised_findings_hold("float16 a = 0;"));
  EXPECT_FALSE(uninitialised_findings_hold("uint4 a = 0;"));
  EXPECT_FALSE(uninitialised_findings_hold("x = vload16(0, p).hi;"));
}

}  // namespace
}  // namespace kw
