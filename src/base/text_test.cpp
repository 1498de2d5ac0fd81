#include "base/text.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace kw {
namespace {

TEST(LowerCase, changes_ascii_letters_alone) {
  EXPECT_EQ(lower_case("Sm_90A, [Z]"), "sm_90a, [z]");
  EXPECT_EQ(lower_case("\xc3\x89t\xc3\x89"), "\xc3\x89t\xc3\x89");
}

TEST(Trimmed, takes_white_space_from_both_ends_and_none_from_between) {
  EXPECT_EQ(trimmed(" \t\r\n a b\r\n"), "a b");
  EXPECT_EQ(trimmed("ab"), "ab");
  EXPECT_EQ(trimmed(" \n"), "");
  EXPECT_EQ(trimmed(""), "");
}

TEST(OnOneLine, makes_one_space_of_every_run_of_blanks_and_controls) {
  EXPECT_EQ(on_one_line("\n a \t\r\nb\x01\x7f  c\n"), "a b c");
  EXPECT_EQ(on_one_line("caf\xc3\xa9"), "caf\xc3\xa9");
  EXPECT_EQ(on_one_line(" \x1b "), "");
}

TEST(ShellWord, quotes_what_a_shell_would_not_take_as_it_is) {
  EXPECT_EQ(shell_word("problems/attention/alibi.toml"), "problems/attention/alibi.toml");
  EXPECT_EQ(shell_word("Sq=2048"), "Sq=2048");
  EXPECT_EQ(shell_word("masks.py:window(1, 2)"), "'masks.py:window(1, 2)'");
  EXPECT_EQ(shell_word("it's; $(x)"), "'it'\\''s; $(x)'");
  EXPECT_EQ(shell_word(""), "''");
}

TEST(Join, puts_the_separator_between_the_items_only) {
  EXPECT_EQ(join(std::vector<std::string>{"a", "b", "c"}), "a, b, c");
  EXPECT_EQ(join(std::vector<std::string>{"a"}), "a");
  EXPECT_EQ(join(std::vector<std::string>{}), "");
  EXPECT_EQ(join(std::vector<std::string>{"", ""}, "; "), "; ");
}

TEST(Join, takes_numbers_and_what_a_function_makes_of_each_item) {
  EXPECT_EQ(join(std::vector<int>{1, 2}, " x "), "1 x 2");
  EXPECT_EQ(join(std::map<std::string, int>{{"M", 64}, {"N", 32}}, " ",
                 [](const auto& item) { return item.first + "=" + std::to_string(item.second); }),
            "M=64 N=32");
}

}  // namespace
}  // namespace kw
