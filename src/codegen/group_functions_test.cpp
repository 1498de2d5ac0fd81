#include "codegen/group_functions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kw {
namespace {

using testing::HasSubstr;

constexpr const char* k_one = R"(float twice(const float x) { return 2 * x; }

// What it is for.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void scale(__global const float* restrict x, __global float *y,
           const int count) {
  const long first = get_global_id(0) * count;
  if (get_num_groups(1) == 1) {
    y[first] = twice(x[first]);
  }
}
)";

TEST(GroupFunctions, have_the_work_of_a_kernel_and_are_told_their_place) {
  EXPECT_EQ(with_group_functions(k_one), R"(float twice(const float x) { return 2 * x; }

// What it is for.
static __attribute__((noinline))  // PoCL compiles a kernel three times, and what it calls once
void scale_group(__global const float* restrict x, __global float *y, const int count, const long group_x,
                 const long groups_y) {
  const long first = group_x * count;
  if (groups_y == 1) {
    y[first] = twice(x[first]);
  }
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void scale(__global const float* restrict x, __global float *y,
           const int count) {
  scale_group(x, y, count, get_group_id(0), get_num_groups(1));
}
)");
}

TEST(GroupFunctions, are_made_of_every_kernel_and_keep_what_stands_between) {
  const std::string text = with_group_functions(std::string(k_one) + "\n#define N 3\n\n" + k_one + "// the end\n");
  EXPECT_THAT(text, HasSubstr("}\n\n#define N 3\n\nfloat twice"));
  EXPECT_TRUE(text.ends_with("get_num_groups(1));\n}\n// the end\n"));
  EXPECT_EQ(text.find("static"), text.find("static __attribute__((noinline))"));
  EXPECT_NE(text.find("static"), text.rfind("static"));
}

TEST(GroupFunctions, have_names_that_nothing_else_has) {
  const std::string text = with_group_functions("int group_x, scale_group;\n" + std::string(k_one));
  EXPECT_THAT(text, HasSubstr("void scale_group_(__global"));
  EXPECT_THAT(text, HasSubstr("const long first = group_x_ * count;"));
}

/// Work-items of one group share memory and barriers, which only a kernel can have.
TEST(GroupFunctions, are_not_made_of_kernels_with_more_work_items) {
  std::string text = k_one;
  text.replace(text.find("size(1,"), 7, "size(64,");
  EXPECT_EQ(with_group_functions(text), text);
}

TEST(GroupFunctions, are_for_kernels_as_ours_are_written) {
  EXPECT_DEATH((void)with_group_functions("__kernel __attribute__((reqd_work_group_size(1, 1, 1)))\nint x;\n"),
               "no kernel of ours: int x;");
}

}  // namespace
}  // namespace kw
