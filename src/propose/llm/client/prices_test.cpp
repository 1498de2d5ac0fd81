#include "propose/llm/client/prices.hpp"

#include <gtest/gtest.h>

namespace kw {
namespace {

constexpr std::string_view k_table = R"(as_of = "2026-01-02"
[[price]]
provider = "custom"
models = ["big", "big-20*"]
prompt = 2
cached = 0.5
completion = 10.0
[[price]]
models = ["*"]
prompt = 1.0
completion = 1.0
)";

TEST(Prices, count_prompt_cached_prompt_and_completion_apart) {
  const auto table = *parse_prices(k_table, "t");
  const auto custom = *make_provider("custom", "http://h/v1");
  TokenUsage usage;
  usage.prompt = 1'000'000;
  usage.cached = 400'000;
  usage.completion = 100'000;
  EXPECT_DOUBLE_EQ(*dollars(table, custom, "big-2026", usage), 0.6 * 2 + 0.4 * 0.5 + 0.1 * 10);
  EXPECT_DOUBLE_EQ(*dollars(table, custom, "other", usage), 1.1) << "without a price of its own, cached costs as much";
  EXPECT_EQ(find_price(table, custom, "big")->as_of, "2026-01-02");
}

TEST(Prices, unknown_model_has_no_price_and_a_local_one_costs_nothing) {
  const TokenUsage usage{10, 10, 0, 0, false};
  EXPECT_EQ(dollars(built_in_prices(), *make_provider("openrouter", ""), "somebody/something", usage), std::nullopt);
  EXPECT_EQ(dollars(built_in_prices(), *make_provider("custom", "http://127.0.0.1/v1"), "m", usage), std::nullopt);
  EXPECT_EQ(dollars(built_in_prices(), *make_provider("ollama", ""), "qwen3", usage), 0.0);
}

TEST(Prices, built_in_table_knows_a_few_and_their_date) {
  const auto* reasoner = find_price(built_in_prices(), *make_provider("deepseek", ""), "deepseek-reasoner");
  ASSERT_NE(reasoner, nullptr);
  EXPECT_EQ(reasoner->as_of.size(), 10U);
  EXPECT_LT(reasoner->cached, reasoner->prompt);
  const auto openai = *make_provider("openai", "");
  ASSERT_NE(find_price(built_in_prices(), openai, "gpt-4o"), nullptr);
  EXPECT_GT(find_price(built_in_prices(), openai, "gpt-4o")->prompt,
            find_price(built_in_prices(), openai, "gpt-4o-mini")->prompt);
}

TEST(Prices, a_users_file_comes_first) {
  const auto mine =
      *parse_prices("as_of = \"2026-03-04\"\n[[price]]\nmodels = [\"gpt-4o\"]\nprompt = 9\ncompletion = 9\n", "m");
  const auto openai = *make_provider("openai", "");
  EXPECT_EQ(find_price(joined(mine, built_in_prices()), openai, "gpt-4o")->prompt, 9);
  EXPECT_EQ(find_price(joined(mine, built_in_prices()), openai, "o1")->prompt, 15);
}

void expect_refused(std::string_view text, int line, std::string_view message) {
  const auto table = parse_prices(text, "p.toml");
  ASSERT_FALSE(table) << text;
  EXPECT_EQ(table.error().code, errc::prices_file) << text;
  EXPECT_EQ(table.error().message, message);
  EXPECT_EQ(table.error().where.file, "p.toml");
  EXPECT_EQ(table.error().where.line, line) << text;
}

TEST(Prices, refuse_tables_with_line_and_reason) {
  const std::string head = "as_of = \"2026-01-01\"\n";
  expect_refused("[[price]]\n", 1, "the table has no date");
  expect_refused(head + "euro = 1\n", 2, "a price table knows no 'euro'");
  expect_refused(head + "[[price]]\nmodels = [\"a\"]\nprompt = 1\n", 2, "this price has no 'completion'");
  expect_refused(head + "[[price]]\nmodels = \"a\"\nprompt = 1\ncompletion = 1\n", 3,
                 "'models' has to be a list of names");
  expect_refused(head + "[[price]]\nmodels = [\"a\"]\nprompt = -1\ncompletion = 1\n", 4,
                 "'prompt' has to be dollars per million tokens, a number from 0 to 1e+06");
  expect_refused(head + "[[price]]\nmodels = [\"a\"]\nprompt = 1\ncompletion = 1\ncashed = 1\n", 6,
                 "a price knows no 'cashed'");
}

TEST(Prices, malformed_toml_is_a_price_error_too) {
  const auto table = parse_prices("as_of = ", "p.toml");
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().code, errc::prices_file);
  EXPECT_EQ(table.error().where.line, 1);
}

}  // namespace
}  // namespace kw
