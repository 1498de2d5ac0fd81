#include "propose/search/foremost_points.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "propose/search/search_proposer.hpp"
#include "propose/testing/synthetic_style.hpp"

namespace kw {
namespace {

double bowl_of(const IntBindings& assignment) {
  return synthetic::bowl(Candidate{{}, assignment});
}

CandidateRanking by_bowl(double sign) {
  return [sign](std::span<const CandidateToRank> candidates) {
    std::vector<double> ranks;
    for (const auto& one : candidates) ranks.push_back(sign * bowl_of(one.assignment));
    return ranks;
  };
}

/// Candidates until one is within 5 % of the best.
std::size_t evaluations(const CandidateRanking& ranking, std::uint64_t seed) {
  const Problem problem = synthetic::problem();
  SearchOptions options{&problem, synthetic::device(), "opencl", "five", seed, {}, ranking};
  const auto proposer = make_search_proposer(synthetic::five(), options).value();
  synthetic::Judge judge(synthetic::rugged, 0, seed);
  for (std::size_t count = 1; count <= 2000; ++count) {
    const auto proposal = proposer->next();
    if (!proposal) break;
    const auto attempt = judge.judge(*proposal);
    proposer->observe(attempt);
    if (judge.best() <= 1.05e6) return count;
  }
  return 2000;
}

std::size_t median_evaluations(const CandidateRanking& ranking) {
  std::vector<std::size_t> counts;
  for (std::uint64_t seed = 1; seed <= 11; ++seed) counts.push_back(evaluations(ranking, seed));
  std::ranges::sort(counts);
  return counts[5];
}

TEST(ForemostPoints, are_the_foremost_and_no_neighbours) {
  const Problem problem = synthetic::problem();
  auto space = SearchSpace::open(synthetic::five(), problem, synthetic::device()).value();
  Rng rng(1);
  const auto points = foremost_points(space, by_bowl(1), 4, 10000, rng);
  ASSERT_EQ(points.size(), 4U);
  EXPECT_NEAR(bowl_of(space.assignment(points[0])), 1e6, 1);
  for (std::size_t a = 0; a < points.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      int differ = 0;
      for (const auto& [name, value] : points[a].tunables) differ += value != points[b].tunables.at(name) ? 1 : 0;
      EXPECT_GE(differ, 2);
    }
  }
}

TEST(ForemostPoints, lead_a_search_sooner_and_never_keep_it_from_the_best) {
  const std::size_t alone = median_evaluations(nullptr);
  const std::size_t taught = median_evaluations(by_bowl(1));
  const std::size_t misled = median_evaluations(by_bowl(-1));
  RecordProperty("evaluations", fmt::format("{} {} {}", alone, taught, misled));
  EXPECT_LT(4 * taught, alone);
  EXPECT_LT(misled, 3 * alone) << "a ranking that says the opposite costs something, and not the search";
}

}  // namespace
}  // namespace kw
