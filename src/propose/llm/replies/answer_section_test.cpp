#include "propose/llm/replies/answer_section.hpp"

#include <gtest/gtest.h>

namespace kw {
namespace {

constexpr const char* k_answer =
    "# Plan\n1. tiles of keys\n2. merge\n\n1. **Analysis**: loads are\n   not wide.\n2. **Design:** wide loads.\n\n"
    "**Code**\n```c\nDesign: none\n```\n";

TEST(AnswerSection, is_found_by_its_title_however_it_is_set) {
  EXPECT_EQ(answer_section(k_answer, "Plan"), "1. tiles of keys\n2. merge");
  EXPECT_EQ(answer_section(k_answer, "Analysis"), "loads are\nnot wide.");
  EXPECT_EQ(answer_section(k_answer, "Design"), "wide loads.");
  EXPECT_EQ(answer_section("analysis: slow", "Analysis"), "slow");
  EXPECT_EQ(answer_section("### Design\n\nwide\n# Code\n", "Design"), "wide");
}

TEST(AnswerSection, keeps_what_is_set_in_bold_behind_its_title) {
  EXPECT_EQ(answer_section("Plan: **two** rows.", "Plan"), "**two** rows.");
  EXPECT_EQ(answer_section("**Plan**: **two** rows.", "Plan"), "**two** rows.");
  EXPECT_EQ(answer_section("- **Plan:** **two** rows.", "Plan"), "**two** rows.");
  EXPECT_EQ(answer_section("*Plan* : two rows.", "Plan"), "two rows.");
  EXPECT_EQ(answer_section("**Plan** two rows.", "Plan"), "two rows.");
}

TEST(AnswerSection, is_no_sentence_that_begins_with_the_word) {
  EXPECT_EQ(answer_section("Plan the tiles first.", "Plan"), "");
  EXPECT_EQ(answer_section("Planned nothing.", "Plan"), "");
  EXPECT_EQ(answer_section("", "Plan"), "");
}

TEST(AnswerSection, is_bounded) {
  std::string long_one = "Design: ";
  for (int i = 0; i < 10000; ++i) long_one += "word\n";
  EXPECT_LT(answer_section(long_one, "Design").size(), 4500U);
}

}  // namespace
}  // namespace kw
