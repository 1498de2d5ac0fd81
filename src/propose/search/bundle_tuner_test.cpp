#include "propose/search/bundle_tuner.hpp"

#include <gtest/gtest.h>

#include <set>

#include "propose/search/synthetic_style.hpp"

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

TEST(BundleTuner, has_nothing_to_do_without_a_choice) {
  const auto problem = synthetic::problem();
  EXPECT_EQ(make_bundle_tuner(verified({}), problem, synthetic::device(), 3), nullptr);
  EXPECT_EQ(make_bundle_tuner(verified({{"A", {4}, 4}}), problem, synthetic::device(), 3), nullptr);
}

}  // namespace
}  // namespace kw
