#include "propose/search/space_sample.hpp"

#include <gtest/gtest.h>

#include "propose/testing/synthetic_style.hpp"

namespace kw {
namespace {

SpaceSample sample(const Problem& problem, const std::vector<IntBindings>& seeds, std::uint64_t seed) {
  return {SearchSpace::open(synthetic::five(), problem, synthetic::device()).value(), seeds, seed};
}

std::vector<IntBindings> drawn(const std::vector<IntBindings>& seeds, std::uint64_t seed, std::size_t at_most) {
  const Problem problem = synthetic::problem();
  SpaceSample points = sample(problem, seeds, seed);
  std::vector<IntBindings> assignments;
  while (assignments.size() < at_most) {
    const auto point = points.next();
    if (!point) break;
    assignments.push_back(point->assignment);
  }
  return assignments;
}

TEST(SpaceSample, gives_every_legal_point_once) {
  const auto all = drawn({}, 1, 1U << 20U);
  const std::set<IntBindings> distinct(all.begin(), all.end());
  EXPECT_EQ(distinct.size(), all.size());
  std::size_t legal = 0;
  for (int a = 0; a < 8; ++a) {
    for (int b = 0; b < 8; ++b) legal += a + b <= 10 ? 8 * 4 * 4 : 0;
  }
  EXPECT_EQ(all.size(), legal);
}

TEST(SpaceSample, begins_with_the_guesses_and_goes_on_at_random) {
  const IntBindings guess = {{"A", 16}, {"B", 8}, {"C", 4}, {"D", 2}, {"E", 1}};
  const auto one = drawn({guess, guess}, 1, 20);
  const auto other = drawn({guess, guess}, 2, 20);
  EXPECT_EQ(one.at(0), guess);
  EXPECT_NE(one.at(1), guess);
  EXPECT_EQ(drawn({guess, guess}, 1, 20), one) << "the same for the same seed";
  EXPECT_NE(one, other);
}

TEST(SpaceSample, says_where_each_point_came_from) {
  const Problem problem = synthetic::problem();
  SpaceSample points = sample(problem, {}, 1);
  EXPECT_EQ(points.next()->origin, "seed 1") << "the style's defaults where it has no guess";
  EXPECT_EQ(points.next()->origin, "random");
  EXPECT_EQ(points.space().names(), (std::vector<std::string>{"A", "B", "C", "D", "E"}));
}

}  // namespace
}  // namespace kw
