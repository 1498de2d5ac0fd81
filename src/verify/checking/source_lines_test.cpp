#include "verify/checking/source_lines.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kw {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(SourceLines, are_joined_at_backslashes_and_lose_their_comments) {
  EXPECT_THAT(source_lines("a\nb\r\nc").lines, ElementsAre("a", "b", "c"));
  EXPECT_THAT(source_lines("a\\\nb\\ \t\r\nc").lines, ElementsAre("abc"));
  EXPECT_THAT(source_lines("a // b\nc /* d\n e */ f").lines, ElementsAre("a ", "c   f"));
  EXPECT_THAT(source_lines("a /\\\n/ b\nc").lines, ElementsAre("a ", "c"));
  EXPECT_THAT(source_lines("").lines, ElementsAre(""));
}

TEST(SourceLines, keep_strings_characters_and_separated_digits) {
  for (const std::string text : {R"("// \\" '"')", R"('\'' "/*")", R"(L'"' u8"//" x)", "1'000'000u + 0x1p-3f"}) {
    const SourceLines read = source_lines(text);
    EXPECT_FALSE(read.ambiguous) << text << ": " << read.ambiguous.value_or("");
    EXPECT_THAT(read.lines, ElementsAre(text));
  }
}

TEST(SourceLines, directives_have_a_word_and_a_rest) {
  const auto parts = [](std::string_view line) {
    const auto directive = directive_of(line);
    return directive ? std::string(directive->word) + "|" + std::string(directive->rest) : "none";
  };
  EXPECT_EQ(parts("  # define  A(x) x"), "define|A(x) x");
  EXPECT_EQ(parts("%:if A"), "if|A");
  EXPECT_EQ(parts("#"), "|");
  EXPECT_EQ(parts("#include<x>"), "include|<x>");
  EXPECT_EQ(parts("a # b"), "none");
  EXPECT_EQ(parts(""), "none");
}

TEST(SourceLines, identifiers_are_no_parts_of_numbers) {
  EXPECT_THAT(identifiers_in("defined(A_1) && 0x1fULL > b2"), ElementsAre("defined", "A_1", "b2"));
  EXPECT_THAT(identifiers_in("1 + 2"), IsEmpty());
}

}  // namespace
}  // namespace kw
