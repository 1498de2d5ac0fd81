#include <gtest/gtest.h>

#include "base/utf8.hpp"
#include "propose/llm/replies/reply_parse.hpp"

namespace kw {
namespace {

ChatReply thinking(std::string text) {
  ChatReply reply;
  reply.reasoning = std::move(text);
  return reply;
}

TEST(ReasoningSummary, short_reasoning_is_kept_on_one_line) {
  EXPECT_EQ(reasoning_summary(thinking("First\n\n  second.\x1b[1m\n")), "First second. [1m");
}

TEST(ReasoningSummary, long_reasoning_keeps_both_ends) {
  const auto text = reasoning_summary(thinking("begin " + std::string(1'000'000, 'x') + " end"));
  EXPECT_EQ(text.substr(0, 6), "begin ");
  EXPECT_EQ(text.substr(text.size() - 4), " end");
  EXPECT_LT(text.size(), 700U);
}

TEST(ReasoningSummary, cuts_between_characters) {
  std::string wide;
  for (int i = 0; i < 5000; ++i) wide += "\u20ac";
  for (const char* shift : {"", "a", "ab"}) {
    const auto text = reasoning_summary(thinking(shift + wide));
    EXPECT_FALSE(first_non_text_byte(text)) << shift;
  }
}

TEST(ReasoningSummary, takes_the_prose_before_the_code_when_there_is_no_reasoning) {
  ChatReply reply;
  reply.text = "Use tiles.\n```c\nint x;\n```";
  EXPECT_EQ(reasoning_summary(reply), "Use tiles.");
}

}  // namespace
}  // namespace kw
