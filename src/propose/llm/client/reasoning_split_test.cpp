#include "propose/llm/client/reasoning_split.hpp"

#include <gtest/gtest.h>

namespace kw {
namespace {

void expect_split(std::string_view content, std::string_view reasoning, std::string_view answer) {
  const auto split = split_reasoning(content);
  EXPECT_EQ(split.reasoning, reasoning) << content;
  EXPECT_EQ(split.answer, answer) << content;
}

TEST(ReasoningSplit, takes_a_block_at_the_start) {
  expect_split("<think>\nhm\n</think>\n\nkernel", "hm", "kernel");
  expect_split("\n <thinking>hm</thinking>kernel", "hm", "kernel");
  expect_split("<think></think>kernel", "", "kernel");
}

TEST(ReasoningSplit, leaves_a_block_inside_the_answer) {
  expect_split("kernel <think>x</think> end", "", "kernel <think>x</think> end");
  expect_split("no tags", "", "no tags");
}

TEST(ReasoningSplit, takes_all_of_a_block_that_never_ends) {
  expect_split("<think>hm, and then", "hm, and then", "");
}

TEST(ReasoningSplit, takes_what_stands_before_a_closing_tag_alone) {
  expect_split("hm\n</think>\nkernel", "hm", "kernel");
  expect_split("</think>\nkernel", "", "kernel");
}

TEST(ReasoningSplit, does_not_mix_the_two_tags) {
  expect_split("<think>a </thinking> b</think>kernel", "a </thinking> b", "kernel");
}

TEST(ReasoningSplit, gives_nothing_for_nothing) {
  expect_split("", "", "");
  expect_split(" \n", "", "");
}

}  // namespace
}  // namespace kw
