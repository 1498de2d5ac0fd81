#include "propose/search/bundle_tuner.hpp"

#include <gtest/gtest.h>

#include <set>

#include "propose/testing/synthetic_style.hpp"

namespace kw {
namespace {

Attempt verified(std::vector<Tunable> tunables) {
  Attempt attempt;
  attempt.candidate = make_candidate(synthetic::bundle(std::move(tunables), {}, "written by hand")).value();
  attempt.measurement = Measurement();
  attempt.measurement->median_ns = 9e6;
  return attempt;
}

TEST(BundleTuner, tries_other_assignments_of_the_same_source_and_never_the_first_again) {
  const auto problem = synthetic::problem();
  const auto first = verified({{"A", {1, 2, 4, 8}, 2}, {"B", {1, 2}, 1}});
  const auto tuner = make_bundle_tuner(first, problem, synthetic::device(), 3);
  ASSERT_NE(tuner, nullptr);
  std::set<Hash> seen = {first.candidate.id()};
  while (auto proposal = tuner->next()) {
    EXPECT_TRUE(seen.insert(proposal->candidate.id()).second);
    EXPECT_EQ(proposal->candidate.bundle.source, first.candidate.bundle.source);
    Attempt attempt = first;
    attempt.candidate = proposal->candidate;
    tuner->observe(attempt);
  }
  EXPECT_EQ(seen.size(), 8U);
}

TEST(BundleTuner, begins_with_what_the_primary_workload_had_where_rows_had_a_say) {
  const auto problem = synthetic::problem();
  auto first = verified({{"A", {1, 2, 4}, 2}, {"B", {1, 2}, 1}});
  first.candidate.bundle.dispatch = {{"", {}, {{"A", 4}}}};
  first.candidate = make_candidate(first.candidate.bundle).value();
  const auto tuner = make_bundle_tuner(first, problem, synthetic::device(), 3);
  ASSERT_NE(tuner, nullptr);
  std::set<Hash> seen;
  while (auto proposal = tuner->next()) {
    if (seen.empty()) {
      EXPECT_EQ(proposal->candidate.tunables, (IntBindings{{"A", 4}, {"B", 1}}));
    }
    EXPECT_TRUE(seen.insert(proposal->candidate.id()).second);
    Attempt attempt = first;
    attempt.candidate = proposal->candidate;
    tuner->observe(attempt);
  }
  EXPECT_EQ(seen.size(), 6U);
}

TEST(BundleSearch, proposes_the_start_first_and_every_assignment_once) {
  const auto problem = synthetic::problem();
  SearchOptions options;
  options.problem = &problem;
  options.device = synthetic::device();
  options.target = "opencl";
  const auto start = verified({{"A", {1, 2, 4, 8}, 2}, {"B", {1, 2}, 2}}).candidate;
  EXPECT_EQ(style_that_writes(start.bundle, problem, options.device), "");
  const auto search = make_bundle_search(start, options);
  ASSERT_TRUE(search) << search.error().to_string();
  std::set<Hash> seen;
  while (auto proposal = (*search)->next()) {
    if (seen.empty()) {
      EXPECT_EQ(proposal->candidate.id(), start.id());
    }
    EXPECT_TRUE(seen.insert(proposal->candidate.id()).second);
    Attempt attempt = verified({});
    attempt.candidate = proposal->candidate;
    (*search)->observe(attempt);
  }
  EXPECT_EQ(seen.size(), 8U);
}

TEST(BundleSearch, refuses_a_bundle_with_nothing_to_choose) {
  const auto problem = synthetic::problem();
  SearchOptions options;
  options.problem = &problem;
  options.device = synthetic::device();
  const auto search = make_bundle_search(verified({{"A", {4}, 4}}).candidate, options);
  ASSERT_FALSE(search);
  EXPECT_EQ(search.error().to_string(),
            "the bundle has no tunable with more than one value [candidate.tunable]\n"
            "  try: give it [tunables] whose values are worth trying");
}

TEST(BundleTuner, has_nothing_to_do_without_a_choice) {
  const auto problem = synthetic::problem();
  EXPECT_EQ(make_bundle_tuner(verified({}), problem, synthetic::device(), 3), nullptr);
  EXPECT_EQ(make_bundle_tuner(verified({{"A", {4}, 4}}), problem, synthetic::device(), 3), nullptr);
}

}  // namespace
}  // namespace kw
