#include <gtest/gtest.h>

#include "propose/llm/prompts/prompts.hpp"

namespace kw {
namespace {

TEST(PromptParts, are_all_there_unless_left_out) {
  const auto all = parse_prompt_parts("");
  ASSERT_TRUE(all);
  EXPECT_TRUE(all->goal && all->notes && all->lessons);
  const auto some = parse_prompt_parts("goal, lessons");
  ASSERT_TRUE(some);
  EXPECT_FALSE(some->goal || some->lessons);
  EXPECT_TRUE(some->notes);
}

TEST(PromptParts, refuses_what_cannot_be_left_out) {
  const auto parts = parse_prompt_parts("notes,task");
  ASSERT_FALSE(parts);
  EXPECT_EQ(parts.error().code, errc::prompt_part);
  EXPECT_EQ(parts.error().message, "prompts have no part 'task' that can be left out");
  EXPECT_EQ(parts.error().hint, "one or several of goal, notes, lessons");
}

}  // namespace
}  // namespace kw
