#include "propose/search/restricted_style.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "propose/search/space_sample.hpp"
#include "propose/testing/synthetic_style.hpp"

namespace kw {
namespace {

using testing::HasSubstr;

TEST(RestrictedStyle, leaves_the_values_that_are_allowed) {
  const Problem problem = synthetic::problem();
  const Style style = restricted_style(synthetic::five(), {{"A", {4, 16}}, {"B", {8}}, {"C", {1, 2}}, {"D", {3}}});
  SpaceSample points(SearchSpace::open(style, problem, synthetic::device()).value(), {}, 1);
  std::set<std::int64_t> seen;
  std::size_t count = 0;
  for (auto point = points.next(); point; point = points.next()) {
    seen.insert(point->assignment.at("A"));
    EXPECT_EQ(point->assignment.at("B"), 8);
    EXPECT_EQ(point->assignment.at("D"), 3);
    ++count;
  }
  EXPECT_EQ(seen, (std::set<std::int64_t>{4, 16}));
  EXPECT_EQ(count, 2U * 2U * 4U);
}

TEST(RestrictedStyle, refuses_names_and_values_that_the_style_does_not_have) {
  const Problem problem = synthetic::problem();
  const auto error_of = [&](const AllowedValues& allowed) {
    const auto known = require_known_values(synthetic::five(), problem, synthetic::device(), allowed);
    return known ? std::string() : known.error().to_string();
  };
  EXPECT_EQ(error_of({{"A", {1, 128}}}), "");
  EXPECT_THAT(error_of({{"Z", {1}}}), HasSubstr("style five has no tunable \"Z\" here"));
  EXPECT_THAT(error_of({{"Z", {1}}}), HasSubstr("one of: A, B, C, D, E"));
  EXPECT_THAT(error_of({{"D", {0, 7}}}), HasSubstr("D of style five is never 7"));
}

}  // namespace
}  // namespace kw
