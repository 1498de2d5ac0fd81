// What was added for this program alone goes through the whole loop: archive, resumption and report among it.

#include <gtest/gtest.h>

#include "loop/testing/run_fixture.hpp"

namespace kw {
namespace {

TEST_F(RunTest, a_proposer_that_is_registered_runs_and_is_resumed) {
  setup.proposer = "coordinate_descent";
  model = [](const BuildRequest& request) {
    FakeKernel kernel = landscape(request);
    kernel.relative_noise = 0;
    return kernel;
  };
  setup.limits = parse_budget("4c").value();
  const auto begun = run();
  ASSERT_TRUE(begun) << begun.error().to_string();
  EXPECT_EQ(begun->proposer, "coordinate_descent");
  const auto first = candidates_of(begun->id);
  setup.resume = true;
  setup.limits = parse_budget("9c").value();
  const auto resumed = run();
  ASSERT_TRUE(resumed) << resumed.error().to_string();
  EXPECT_EQ(resumed->id, begun->id);
  EXPECT_TRUE(resumed->best_ordinal.has_value());
  auto all = candidates_of(resumed->id);
  ASSERT_EQ(all.size(), 9U);
  all.resize(first.size());
  EXPECT_EQ(all, first);
  const auto attempts = open()->attempts(resumed->id).value();
  EXPECT_EQ(attempts.front().origin, "the defaults");
  EXPECT_FALSE(attempts.front().provenance.chain.has_value());
  for (const auto& attempt : attempts) EXPECT_EQ(attempt.proposer, "coordinate_descent");
  EXPECT_TRUE(attempts.back().provenance.chain.has_value()) << "its own provenance is archived as it gave it";
}

TEST_F(RunTest, a_proposer_that_is_not_registered_is_refused_by_name) {
  setup.proposer = "hybrid";
  const auto refused = run();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().to_string(),
            "there is no proposer \"hybrid\" [proposer.unknown]\n  try: search or coordinate_descent");
}

}  // namespace
}  // namespace kw
