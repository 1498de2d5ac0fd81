#include "tensor/int_expr.hpp"

#include <gmock/gmock.h>

#include <string>

#include "base/rng.hpp"

namespace kw {
namespace {

const IntBindings k_names = {{"Sq", 1000}, {"BM", 6}, {"zero", 0}, {"big", INT64_MAX}, {"small", INT64_MIN}};

std::int64_t value_of(std::string_view text) {
  const auto value = evaluate_int_expr(text, k_names);
  EXPECT_TRUE(value.has_value()) << text << ": " << value.error().to_string();
  return value.value_or(-999);
}

std::string error_of(std::string_view text) {
  const auto value = evaluate_int_expr(text, k_names);
  return value ? "no error" : value.error().to_string();
}

TEST(IntExpr, follows_the_usual_precedence) {
  EXPECT_EQ(value_of("1 + 2 * 3"), 7);
  EXPECT_EQ(value_of("(1 + 2) * 3"), 9);
  EXPECT_EQ(value_of("10 - 4 - 3"), 3);
  EXPECT_EQ(value_of("1 + 1 == 2 && 3 < 4 || 0"), 1);
  EXPECT_EQ(value_of("0 && 0 || 1"), 1);
  EXPECT_EQ(value_of("!0 + 1"), 2);
  EXPECT_EQ(value_of("-2 * -3"), 6);
  EXPECT_EQ(value_of("!(BM != 6)"), 1);
}

TEST(IntExpr, divides_and_takes_remainders_with_floor) {
  EXPECT_EQ(value_of("-7 / 2"), -4);
  EXPECT_EQ(value_of("-7 % 2"), 1);
  EXPECT_EQ(value_of("7 % -2"), -1);
  EXPECT_EQ(value_of("small % -1"), 0);
}

TEST(IntExpr, has_tile_functions) {
  EXPECT_EQ(value_of("ceil_div(Sq, BM)"), 167);
  EXPECT_EQ(value_of("ceil_div(-7, 2)"), -3);
  EXPECT_EQ(value_of("round_up(Sq, 64)"), 1024);
  EXPECT_EQ(value_of("ceil_div(big, 2)"), INT64_C(4611686018427387904));
  EXPECT_EQ(value_of("min(3, BM, 5)"), 3);
  EXPECT_EQ(value_of("max(3)"), 3);
}

TEST(IntExpr, does_not_compute_the_side_that_does_not_matter) {
  EXPECT_EQ(value_of("zero == 0 || 64 % zero == 0"), 1);
  EXPECT_EQ(value_of("zero != 0 && big * big > 0"), 0);
  EXPECT_EQ(error_of("1 || Sqq"),
            "in \"1 || Sqq\": 'Sqq' is not a known name [expr.unknown_name]\n"
            "  try: did you mean 'Sq'?");
}

TEST(IntExpr, refuses_overflow_and_division_by_zero) {
  EXPECT_EQ(error_of("big + 1"), "in \"big + 1\": 9223372036854775807 + 1 overflows 64 bits [expr.value]");
  EXPECT_EQ(error_of("big * 2"), "in \"big * 2\": 9223372036854775807 * 2 overflows 64 bits [expr.value]");
  EXPECT_EQ(error_of("-small"), "in \"-small\": -(-9223372036854775808) overflows 64 bits [expr.value]");
  EXPECT_EQ(error_of("small / -1"), "in \"small / -1\": -9223372036854775808 / -1 overflows 64 bits [expr.value]");
  EXPECT_EQ(error_of("Sq / zero"), "in \"Sq / zero\": 1000 / 0 divides by zero [expr.value]");
  EXPECT_EQ(error_of("Sq % 0"), "in \"Sq % 0\": 1000 % 0 divides by zero [expr.value]");
  EXPECT_EQ(error_of("ceil_div(Sq, 0)"),
            "in \"ceil_div(Sq, 0)\": ceil_div needs a divisor above 0, not 0 [expr.value]");
  EXPECT_EQ(error_of("round_up(big, 2)"),
            "in \"round_up(big, 2)\": round_up(9223372036854775807, 2) overflows 64 bits [expr.value]");
  EXPECT_EQ(error_of("9223372036854775808"),
            "in \"9223372036854775808\": 9223372036854775808 does not fit 64 bits [expr.value]");
}

TEST(IntExpr, says_where_the_syntax_is_wrong) {
  EXPECT_EQ(error_of(""), "in \"\": expected a number, a name or '(' at character 1, found the end [expr.syntax]");
  EXPECT_EQ(error_of("1 +"),
            "in \"1 +\": expected a number, a name or '(' at character 4, found the end [expr.syntax]");
  EXPECT_EQ(error_of("min(1, 2"), "in \"min(1, 2\": expected ',' or ')' at character 9, found the end [expr.syntax]");
  EXPECT_EQ(error_of("1 2"), "in \"1 2\": expected an operator or the end at character 3, found '2' [expr.syntax]");
  EXPECT_EQ(error_of("1 = 2"), "in \"1 = 2\": expected an operator or the end at character 3, found '=' [expr.syntax]");
  EXPECT_EQ(error_of("0x10"), "in \"0x10\": '0x10' is neither a name nor a whole decimal number [expr.syntax]");
  EXPECT_EQ(error_of("1 < 2 < 3"),
            "in \"1 < 2 < 3\": comparisons do not chain (character 7); join two of them with && [expr.syntax]");
  EXPECT_EQ(error_of("ceil_div(1)"), "in \"ceil_div(1)\": ceil_div takes 2 to 2 arguments, not 1 [expr.syntax]");
}

TEST(IntExpr, names_what_it_knows) {
  EXPECT_EQ(error_of("floor(2)"),
            "in \"floor(2)\": 'floor' is not a known function [expr.unknown_name]\n"
            "  try: known functions: ceil_div(a, b), round_up(a, b), min(a, ...), max(a, ...)");
  EXPECT_EQ(error_of("whatever"),
            "in \"whatever\": 'whatever' is not a known name [expr.unknown_name]\n"
            "  try: known names: BM, Sq, big, small, zero");
}

TEST(IntExpr, bounds_length_and_depth) {
  EXPECT_EQ(value_of(std::string(63, '(') + "1" + std::string(63, ')')), 1);
  const std::string deep = std::string(64, '(') + "1" + std::string(64, ')');
  EXPECT_EQ(error_of(deep), "in \"" + deep + "\": nested deeper than 64 levels [expr.syntax]");
  EXPECT_EQ(error_of(std::string(65, '!') + "1"),
            "in \"" + std::string(65, '!') + "1\": nested deeper than 64 levels [expr.syntax]");
  EXPECT_EQ(error_of(std::string(1025, '1')),
            "an expression of 1025 characters is too long; the limit is 1024 [expr.syntax]");
}

TEST(IntExpr, checks_syntax_without_names) {
  EXPECT_TRUE(check_int_expr("anything * at_all / 0").has_value());
  const auto checked = check_int_expr("a +* b");
  ASSERT_FALSE(checked.has_value());
  EXPECT_EQ(checked.error().code, errc::expr_syntax);
}

TEST(IntExpr, is_parsed_once_for_many_assignments) {
  const auto tiles = IntExpr::parse("BM % 2 == 0 || ceil_div(Sq, BM) > limit");
  ASSERT_TRUE(tiles.has_value());
  EXPECT_EQ(tiles->text(), "BM % 2 == 0 || ceil_div(Sq, BM) > limit");
  EXPECT_EQ(tiles->evaluate({{"BM", 6}, {"Sq", 10}, {"limit", 9}}), 1);
  EXPECT_EQ(tiles->evaluate({{"BM", 5}, {"Sq", 10}, {"limit", 1}}), 1);
  EXPECT_EQ(tiles->evaluate({{"BM", 5}, {"Sq", 10}, {"limit", 2}}), 0);
  const auto unknown = tiles->evaluate({{"BM", 6}, {"Sq", 10}});
  ASSERT_FALSE(unknown.has_value()) << "of the side that does not matter too";
  EXPECT_EQ(unknown.error().code, errc::expr_unknown_name);
  const auto negative = tiles->evaluate({{"BM", -1}, {"Sq", 10}, {"limit", 9}});
  ASSERT_FALSE(negative.has_value());
  EXPECT_EQ(negative.error().to_string(),
            "in \"BM % 2 == 0 || ceil_div(Sq, BM) > limit\": ceil_div needs a divisor above 0, not -1 [expr.value]");
}

TEST(IntExpr, parses_lists_up_to_the_first_error) {
  const auto both = parse_int_exprs({"1 + 1", "N * 2"});
  ASSERT_TRUE(both.has_value());
  ASSERT_EQ(both->size(), 2U);
  EXPECT_EQ(both->at(1).evaluate({{"N", 4}}), 8);
  const auto wrong = parse_int_exprs({"1", "2 +", "3 +"});
  ASSERT_FALSE(wrong.has_value());
  EXPECT_EQ(wrong.error().code, errc::expr_syntax);
  EXPECT_THAT(wrong.error().message, testing::HasSubstr("\"2 +\""));
}

/// Random expressions without division, against direct evaluation while they are written.
std::pair<std::string, std::int64_t> random_expression(Rng& rng, int depth) {
  if (depth == 0 || rng.below(4) == 0) {
    const std::int64_t value = rng.below(100);
    return {std::to_string(value), value};
  }
  const auto [left, a] = random_expression(rng, depth - 1);
  const auto [right, b] = random_expression(rng, depth - 1);
  switch (rng.below(6)) {
    case 0:
      return {"(" + left + " + " + right + ")", a + b};
    case 1:
      return {"(" + left + "-(" + right + "))", a - b};
    case 2:
      return {"((" + left + ")<(" + right + "))", a < b ? 1 : 0};
    case 3:
      return {"min(" + left + ", " + right + ")", std::min(a, b)};
    case 4:
      return {"(" + left + " || " + right + ")", a != 0 || b != 0 ? 1 : 0};
    default:
      return {"-(" + left + ") * 3", -a * 3};
  }
}

TEST(IntExpr, agrees_with_direct_evaluation_on_random_expressions) {
  constexpr std::uint64_t k_seed = 20;
  Rng rng(k_seed);
  for (int i = 0; i < 500; ++i) {
    const auto [text, expected] = random_expression(rng, 4);
    if (text.size() > 1024) continue;
    const auto value = evaluate_int_expr(text, {});
    ASSERT_TRUE(value.has_value()) << "seed " << k_seed << ": " << value.error().to_string();
    EXPECT_EQ(*value, expected) << "seed " << k_seed << ": " << text;
    const auto parsed = IntExpr::parse(text);
    ASSERT_TRUE(parsed.has_value());
    EXPECT_EQ(parsed->evaluate({}), expected) << "seed " << k_seed << ": " << text;
  }
}

}  // namespace
}  // namespace kw
