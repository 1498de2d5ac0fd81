#include "tests/errors/case_file.hpp"

#include <gtest/gtest.h>

namespace kw::error_cases {
namespace {

constexpr std::string_view k_two_cases =
    "# Why.\n\nmask first\n  def f():\n\n    return 1\n=>\n  mask.py:1:1: no\n    try: yes\n\n"
    "# Between.\nproblem second\n\n=>\n";

void expect_refused(std::string_view text, int line, std::string_view message) {
  const auto cases = parse_case_file(text, "some.case");
  ASSERT_FALSE(cases);
  EXPECT_EQ(cases.error().code, k_case_file);
  EXPECT_EQ(cases.error().message, message);
  EXPECT_EQ(cases.error().where.file, "some.case");
  EXPECT_EQ(cases.error().where.line, line);
}

TEST(CaseFile, holds_inputs_and_texts_without_their_indentation) {
  const auto cases = parse_case_file(k_two_cases, "some.case");
  ASSERT_TRUE(cases) << cases.error().to_string();
  ASSERT_EQ(cases->size(), 2U);
  EXPECT_EQ((*cases)[0].kind, "mask");
  EXPECT_EQ((*cases)[0].name, "first");
  EXPECT_EQ((*cases)[0].input, "def f():\n\n  return 1\n");
  EXPECT_EQ((*cases)[0].expected, "mask.py:1:1: no\n  try: yes\n");
  EXPECT_EQ((*cases)[1].kind, "problem");
  EXPECT_EQ((*cases)[1].name, "second");
  EXPECT_EQ((*cases)[1].input, "\n");
  EXPECT_EQ((*cases)[1].expected, "");
}

TEST(CaseFile, takes_another_text_for_one_case_and_keeps_the_rest) {
  EXPECT_EQ(with_expected(k_two_cases, "some.case", "first", "a\n\nb\n").value(),
            "# Why.\n\nmask first\n  def f():\n\n    return 1\n=>\n  a\n\n  b\n\n"
            "# Between.\nproblem second\n\n=>\n");
  EXPECT_EQ(with_expected(k_two_cases, "some.case", "second", "new\n").value(), fmt::format("{}  new\n", k_two_cases));
}

TEST(CaseFile, is_refused_at_the_line_that_is_wrong) {
  expect_refused("", 1, "there is no case in this file");
  expect_refused("# Why.\nmod a\n  x\n=>\n", 2, "expected 'mask NAME', 'score NAME', 'problem NAME' or 'module NAME'");
  expect_refused("mask A-b\n  x\n=>\n", 1, "expected 'mask NAME', 'score NAME', 'problem NAME' or 'module NAME'");
  expect_refused("mask\n  x\n=>\n", 1, "expected 'mask NAME', 'score NAME', 'problem NAME' or 'module NAME'");
  expect_refused("  x\n", 1, "expected 'mask NAME', 'score NAME', 'problem NAME' or 'module NAME'");
  expect_refused("mask a\n=>\n", 2, "a has no input");
  expect_refused("mask a\n  x\nscore b\n", 3, "expected '=>' after the input of a");
  expect_refused("mask a\n  x\n", 3, "expected '=>' after the input of a");
  expect_refused("mask a\n  x\n=>\n  y\nmask a\n  x\n=>\n", 5, "there are two cases of the name a");
}

}  // namespace
}  // namespace kw::error_cases
