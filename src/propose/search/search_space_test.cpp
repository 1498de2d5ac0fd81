#include "propose/search/search_space.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "propose/testing/synthetic_style.hpp"

namespace kw {
namespace {

/// Twelve choices, of which P writes another source, and Q yet another one where P is 1. `emitted` counts bundles.
Style style_of_many_choices(int& emitted) {
  Style style = synthetic::five();
  for (const char* name : {"P", "Q", "R1", "R2", "R3", "R4", "R5", "R6", "R7", "R8", "R9", "R10"})
    style.structure.push_back({name, {0, 1}, 0});
  style.emit = [&emitted](const Problem&, const DeviceFacts&, const IntBindings& structure) -> Result<Bundle> {
    ++emitted;
    const auto chosen = [&](const char* name) { return structure.count(name) > 0 && structure.at(name) == 1; };
    const std::string source = chosen("P") ? chosen("Q") ? "both" : "one" : "none";
    return synthetic::bundle({{"A", {1, 2, 4}, 1}}, {}, source);
  };
  return style;
}

TEST(SearchSpace, finds_variants_of_many_choices_without_all_assignments) {
  int emitted = 0;
  const Style style = style_of_many_choices(emitted);
  const Problem problem = synthetic::problem();
  auto space = SearchSpace::open(style, problem, synthetic::device()).value();
  EXPECT_EQ(space.size(), 9) << "three sources with three points each";
  EXPECT_LT(emitted, 50) << "of 4096 assignments";
  SearchSpace::Walk walk;
  std::size_t points = 0;
  while (walk.next(space)) ++points;
  EXPECT_EQ(points, 9U);
  const auto both = style.emit(problem, synthetic::device(), {{"P", 1}, {"Q", 1}});
  const auto found = space.point_of(make_candidate(*both, {{"A", 4}}).value());
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(space.assignment(*found).at("Q"), 1) << "an archived kernel is found with its structure";
  EXPECT_EQ(space.assignment(*found).at("A"), 4);
}

TEST(SearchSpace, draws_from_variants_of_many_choices) {
  int emitted = 0;
  const Style style = style_of_many_choices(emitted);
  const Problem problem = synthetic::problem();
  auto space = SearchSpace::open(style, problem, synthetic::device()).value();
  Rng rng(7);
  const auto variants_drawn = [&] {
    std::set<std::size_t> variants;
    for (int i = 0; i < 100; ++i) variants.insert(space.random_point(rng).value().variant);
    return variants.size();
  };
  EXPECT_EQ(variants_drawn(), 1U) << "the one that is known";
  EXPECT_EQ(emitted, 2) << "with the one that it was opened with: whoever proposes now does not wait for the others";
  EXPECT_TRUE(space.widen());
  EXPECT_EQ(variants_drawn(), 2U) << "one change away";
  EXPECT_TRUE(space.widen());
  EXPECT_EQ(variants_drawn(), 3U);
  EXPECT_FALSE(space.widen());
  EXPECT_LT(emitted, 50);
}

TEST(SearchSpace, emits_no_more_variants_than_show_that_it_is_large) {
  int emitted = 0;
  const Style style = style_of_many_choices(emitted);
  const Problem problem = synthetic::problem();
  auto space = SearchSpace::open(style, problem, synthetic::device()).value();
  EXPECT_TRUE(space.exceeds(2));
  EXPECT_EQ(emitted, 2);
  EXPECT_TRUE(space.exceeds(8));
  EXPECT_FALSE(space.exceeds(9));
}

/// The cost of a structure is worked out once.
TEST(SearchSpace, asks_a_style_for_one_estimator_of_each_variant) {
  int emitted = 0;
  int made = 0;
  Style style = style_of_many_choices(emitted);
  style.estimator = [&made](const Problem&, const DeviceFacts&, const IntBindings&) {
    ++made;
    return [](const IntBindings& assignment) { return static_cast<double>(assignment.at("A")); };
  };
  const Problem problem = synthetic::problem();
  auto space = SearchSpace::open(style, problem, synthetic::device()).value();
  SearchSpace::Walk walk;
  while (const auto point = walk.next(space)) EXPECT_EQ(space.estimate(*point), point->tunables.at("A"));
  EXPECT_EQ(made, 3);
}

}  // namespace
}  // namespace kw
