#include "codegen/text.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace kw {
namespace {

TEST(Fill, replaces_holes_and_keeps_their_indentation) {
  EXPECT_EQ(fill("a(${x});\n  ${body}\nend\n", {{"x", "1"}, {"body", "one;\n\ntwo;"}}),
            "a(1);\n  one;\n\n  two;\nend\n");
}

TEST(Fill, a_line_that_becomes_empty_goes_away) {
  EXPECT_EQ(fill("a\n  ${nothing}\nb\n\nc\n", {{"nothing", ""}}), "a\nb\n\nc\n");
}

TEST(FillDeathTest, a_hole_without_a_filling_is_our_defect) {
  EXPECT_DEATH(static_cast<void>(fill("${x}", {})), "no filling for");
}

TEST(ParameterList, continues_long_lists_under_the_first_item) {
  EXPECT_EQ(parameter_list("void f(", {"int a", "int b"}), "void f(int a, int b)");
  const std::string wide(60, 'x');
  EXPECT_EQ(parameter_list("f(", {wide, wide, "y"}), "f(" + wide + ",\n  " + wide + ", y)");
}

TEST(BrokenStatement, breaks_behind_operators) {
  EXPECT_EQ(broken_statement("const int t1 = a;"), "const int t1 = a;");
  EXPECT_EQ(broken_statement("const int t1 = first(a, b) & second;", 30), "const int t1 = first(a, b) &\n    second;");
  EXPECT_EQ(broken_statement("const int unbreakable_name;", 12), "const int unbreakable_name;");
  EXPECT_EQ(broken_statement("// The rows of a, each one by 32 threads", 24),
            "// The rows of a, each\n// one by 32 threads");
}

TEST(WithoutParentheses, strips_only_a_pair_that_spans_the_text) {
  EXPECT_EQ(without_parentheses("(a + b)"), "a + b");
  EXPECT_EQ(without_parentheses("(a) + (b)"), "(a) + (b)");
  EXPECT_EQ(without_parentheses("(float)(a)"), "(float)(a)");
  EXPECT_EQ(without_parentheses("f(a)"), "f(a)");
  EXPECT_EQ(without_parentheses(""), "");
}

TEST(AsComment, user_text_cannot_leave_the_comment) {
  EXPECT_EQ(as_comment("a */ b"), "// a */ b");
  EXPECT_EQ(as_comment("evil \\\nx"), "// evil \\ .\n// x");
  EXPECT_EQ(as_comment("evil ?\?/\nx"), "// evil ?\?/ .\n// x");
  EXPECT_EQ(as_comment("a\rb\tc\x01 \xc3\xa9"), "// a b c");
  EXPECT_EQ(as_comment("line\n\nnext"), "// line\n//\n// next");
}

TEST(FloatLiteral, reads_back_as_the_nearest_float) {
  EXPECT_EQ(float_literal(8.0), "8.0f");
  EXPECT_EQ(float_literal(0.1), "0.1f");
  EXPECT_EQ(float_literal(1e-30), "1e-30f");
  EXPECT_EQ(float_literal(-2.5), "(-2.5f)");
  EXPECT_EQ(float_literal(std::numeric_limits<double>::infinity()), "INFINITY");
  EXPECT_EQ(float_literal(-1e300), "(-INFINITY)");
  EXPECT_EQ(float_literal(std::nan("")), "NAN");
}

TEST(IntLiteral, wraps_as_a_device_int_does) {
  EXPECT_EQ(int_literal(7), "7");
  EXPECT_EQ(int_literal(-7), "(-7)");
  EXPECT_EQ(int_literal(0xffffffffLL), "(-1)");
  EXPECT_EQ(int_literal(-2147483648LL), "(-2147483647 - 1)");
}

}  // namespace
}  // namespace kw
