// An operator cannot leave out what protects: a missing part does not compile, a null one aborts where it is made.

#include "problem/operator.hpp"

#include <gtest/gtest.h>

#include <type_traits>

namespace kw {
namespace {

static_assert(!std::is_default_constructible_v<OperatorFormat>);
static_assert(!std::is_default_constructible_v<OperatorChecks>);
static_assert(!std::is_default_constructible_v<OperatorPrompts>);
static_assert(!std::is_default_constructible_v<Operator>);
static_assert(!std::is_default_constructible_v<decltype(OracleSampling::answer)>);
static_assert(!std::is_default_constructible_v<decltype(OperatorChecks::tolerance)>);
static_assert(!std::is_default_constructible_v<decltype(OwnProbe::values)>);
static_assert(!std::is_default_constructible_v<decltype(OwnDistribution::shape)>);

TEST(OperatorDeathTest, is_not_made_with_a_part_that_is_null) {
  AnswerRows (*const missing)(const Problem&, const Axes&, const AnswerWork&) = nullptr;
  EXPECT_DEATH(static_cast<void>(decltype(OracleSampling::rows)(missing)), "a function that has to be there is null");
}

TEST(OperatorDeathTest, is_not_listed_twice_or_as_nothing) {
  const Operator* const attention = find_operator("attention");
  ASSERT_NE(attention, nullptr);
  EXPECT_DEATH(OperatorList({attention, attention}), "there are two operators named attention");
  EXPECT_DEATH(OperatorList({attention, nullptr}), "operator 1 of the list is null");
}

TEST(Operators, are_found_by_name) {
  EXPECT_EQ(find_operator("nonesuch"), nullptr);
  EXPECT_EQ(operator_names(), (std::vector<std::string>{"attention", "program"}));
}

}  // namespace
}  // namespace kw
