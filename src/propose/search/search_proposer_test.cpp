#include "propose/search/search_proposer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "propose/search/search_space.hpp"
#include "propose/testing/synthetic_style.hpp"

namespace kw {
namespace {

using synthetic::Judge;
using synthetic::Landscape;

const Problem k_problem = synthetic::problem();

std::unique_ptr<Proposer> search(const Style& style, std::uint64_t seed, std::vector<Candidate> archived = {}) {
  auto proposer =
      make_search_proposer(style, {&k_problem, synthetic::device(), "opencl", "", seed, std::move(archived)});
  EXPECT_TRUE(proposer.has_value()) << proposer.error().to_string();
  return *std::move(proposer);
}

/// Evaluations until a candidate within 5 % of 1 ms was tried, at most `limit`.
int evaluations_to_near(Proposer& proposer, const Landscape& landscape, int limit, std::uint64_t seed) {
  Judge judge(landscape, 0.01, seed);
  for (int count = 1; count <= limit; ++count) {
    const auto proposal = proposer.next();
    if (!proposal) break;
    const double truth = landscape(proposal->candidate);
    if (truth > 0 && truth <= 1.05e6) return count;
    proposer.observe(judge.judge(*proposal));
  }
  return limit;
}

/// The floor: candidates drawn without replacement from all legal ones.
int random_evaluations_to_near(const Landscape& landscape, int limit, std::uint64_t seed) {
  auto space = SearchSpace::open(synthetic::five(), k_problem, synthetic::device());
  Rng rng(seed);
  std::set<SearchPoint> seen;
  while (std::ssize(seen) < limit) {
    const auto point = space->random_point(rng);
    if (!point || seen.contains(*point)) continue;
    const auto candidate = space->candidate_at(*point);
    if (!candidate) continue;
    seen.insert(*point);
    const double truth = landscape(*candidate);
    if (truth > 0 && truth <= 1.05e6) break;
  }
  return static_cast<int>(seen.size());
}

int median_of(std::vector<int> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct NamedLandscape {
  std::string name;
  Landscape landscape;
};
void PrintTo(const NamedLandscape& named, std::ostream* out) {
  *out << named.name;
}
class BeatsRandom : public testing::TestWithParam<NamedLandscape> {};

TEST_P(BeatsRandom, in_the_median_number_of_evaluations_to_within_five_percent) {
  constexpr int k_limit = 3000;
  const auto& [name, landscape] = GetParam();
  const Style& style = synthetic::five();
  std::vector<int> searched;
  std::vector<int> random;
  for (std::uint64_t seed = 1; seed <= 15; ++seed) {
    const auto proposer = search(style, seed);
    searched.push_back(evaluations_to_near(*proposer, landscape, k_limit, seed));
    random.push_back(random_evaluations_to_near(landscape, k_limit, seed));
  }
  RecordProperty("searched", median_of(searched));
  RecordProperty("random", median_of(random));
  EXPECT_LT(median_of(searched) * 2, median_of(random))
      << name << ", seeds 1 to 15: " << testing::PrintToString(searched) << " against "
      << testing::PrintToString(random);
  std::printf("%s: search %d, random %d evaluations (median of seeds 1 to 15)\n", name.c_str(), median_of(searched),
              median_of(random));
}

INSTANTIATE_TEST_SUITE_P(SearchProposer, BeatsRandom,
                         testing::Values(NamedLandscape{"bowl", synthetic::bowl},
                                         NamedLandscape{"rugged", synthetic::rugged},
                                         NamedLandscape{"holed", synthetic::holed}),
                         [](const auto& parameter) { return parameter.param.name; });

/// Right about the order of A and B, ignorant of the rest.
double good_estimate(const Problem&, const DeviceFacts&, const IntBindings& assignment) {
  const auto off = [&](const char* name, double best) {
    return std::abs(std::log2(static_cast<double>(assignment.at(name))) - best);
  };
  return 1 + 0.2 * off("A", 4) + 0.2 * off("B", 3);
}

TEST(SearchProposer, profits_from_an_estimate) {
  const Style& ignorant = synthetic::five();
  Style informed = ignorant;
  informed.estimate = good_estimate;
  std::vector<int> without;
  std::vector<int> with;
  for (std::uint64_t seed = 1; seed <= 15; ++seed) {
    without.push_back(evaluations_to_near(*search(ignorant, seed), synthetic::bowl, 3000, seed));
    with.push_back(evaluations_to_near(*search(informed, seed), synthetic::bowl, 3000, seed));
  }
  EXPECT_LT(median_of(with), median_of(without)) << "seeds 1 to 15";
}

std::vector<Proposal> run_all(Proposer& proposer, const Landscape& landscape, int limit, std::uint64_t noise_seed = 1) {
  Judge judge(landscape, 0.01, noise_seed);
  std::vector<Proposal> proposals;
  while (std::ssize(proposals) < limit) {
    auto proposal = proposer.next();
    if (!proposal) break;
    proposer.observe(judge.judge(*proposal));
    proposals.push_back(*std::move(proposal));
  }
  return proposals;
}

/// Two structural choices: `mode` changes the tunables, `inert` changes nothing.
Result<Bundle> emit_small(const Problem&, const DeviceFacts&, const IntBindings& structure) {
  const auto mode = structure.find("mode");
  if (mode != structure.end() && mode->second == 2) return fail(errc::codegen_unsupported, "mode 2 does not exist");
  if (mode != structure.end() && mode->second == 1) return synthetic::bundle({{"A", {2, 3, 5}, 3}}, {}, "one");
  return synthetic::bundle({{"A", {1, 2, 3}, 1}, {"B", {1, 2, 3}, 1}}, {"A + B <= 5", "A <= N"}, "zero");
}
std::vector<IntBindings> small_seeds(const Problem&, const DeviceFacts&) {
  return {{{"A", 2}, {"B", 2}}, {{"A", 5}, {"mode", 1}}, {{"A", 3}, {"B", 3}}};
}
double far_estimate(const Problem&, const DeviceFacts&, const IntBindings& assignment) {
  return assignment.contains("B") && assignment.at("B") == 3 ? 10 : 1;
}
const Style& small() {
  static const Style k_style = {
      "copy",     "opencl",    "small",     "", {{"mode", {0, 1, 2}, 0}, {"inert", {0, 1}, 0}},
      emit_small, small_seeds, far_estimate};
  return k_style;
}

double flat(const Candidate&) {
  return 1e6;
}

TEST(SearchSpace, counts_points_of_distinct_bundles) {
  const Style& style = small();
  auto space = SearchSpace::open(style, k_problem, synthetic::device());
  ASSERT_TRUE(space.has_value()) << space.error().to_string();
  EXPECT_EQ(space->size(), 3 * 3 + 3);
}

TEST(SearchSpace, offers_consistent_single_changes) {
  const Style& style = small();
  auto space = SearchSpace::open(style, k_problem, synthetic::device());
  const auto point = space->point_at({{"A", 2}, {"B", 2}});
  ASSERT_TRUE(point.has_value());
  std::vector<std::string> steps;
  for (const auto& step : space->neighbours(*point)) {
    std::string text = step.dimension + ":";
    for (const auto& [name, value] : step.point.tunables) text += fmt::format(" {}={}", name, value);
    steps.push_back(text);
  }
  EXPECT_THAT(steps, testing::ElementsAre("A: A=1 B=2", "A: A=3 B=2", "B: A=2 B=1", "B: A=2 B=3", "mode: A=2"));
}

TEST(SearchSpace, carries_values_over_to_the_nearest_allowed_one) {
  const Style& style = small();
  auto space = SearchSpace::open(style, k_problem, synthetic::device());
  const auto point = space->point_at({{"mode", 1}, {"A", 100}, {"whatever", 1}});
  ASSERT_TRUE(point.has_value());
  EXPECT_EQ(point->tunables, (IntBindings{{"A", 5}}));
  EXPECT_FALSE(space->point_at({{"mode", 2}}).has_value());
}

TEST(SearchProposer, exhausts_a_small_space_exactly_once) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const auto proposer = search(small(), seed);
    std::set<Hash> ids;
    const auto proposals = run_all(*proposer, flat, 100);
    for (const auto& proposal : proposals) {
      EXPECT_TRUE(ids.insert(proposal.candidate.id()).second) << "seed " << seed << ": twice, " << proposal.origin;
    }
    // 9 + 3 points less the one that the constraint removes.
    EXPECT_EQ(proposals.size(), 11U) << "seed " << seed;
    EXPECT_FALSE(proposer->next().has_value()) << "seed " << seed;
  }
}

Result<Bundle> emit_three(const Problem&, const DeviceFacts&, const IntBindings&) {
  const std::vector<std::int64_t> eight = {1, 2, 4, 8, 16, 32, 64, 128};
  return synthetic::bundle({{"A", eight, 1}, {"B", eight, 1}, {"D", {0, 1, 2, 3}, 0}}, {"A * B <= 1024"}, "three");
}

TEST(SearchProposer, exhausts_a_constrained_space_whatever_fails) {
  static const Style k_style = {
      "copy", "opencl", "three", "", {}, emit_three, synthetic::no_seeds, synthetic::no_estimate};
  // Half of the space does not work, and nothing is ever better.
  const auto half = [](const Candidate& candidate) { return candidate.tunables.at("D") < 2 ? -1 : 1e6; };
  const auto proposals = run_all(*search(k_style, 3), half, 100000);
  std::set<Hash> ids;
  for (const auto& proposal : proposals) ids.insert(proposal.candidate.id());
  EXPECT_EQ(ids.size(), proposals.size());
  // Powers of two with a product up to 2^10: exponents up to 7 that sum to at most 10.
  std::size_t legal_pairs = 0;
  for (int a = 0; a < 8; ++a) legal_pairs += static_cast<std::size_t>(std::min(8, 11 - a));
  EXPECT_EQ(proposals.size(), legal_pairs * 4);
}

TEST(SearchProposer, postpones_far_estimates_to_the_end) {
  const auto proposals = run_all(*search(small(), 4), flat, 100);
  ASSERT_EQ(proposals.size(), 11U);
  std::vector<bool> far;
  for (const auto& proposal : proposals) {
    const auto b = proposal.candidate.tunables.find("B");
    far.push_back(b != proposal.candidate.tunables.end() && b->second == 3);
  }
  // Two far points are legal: A=1 B=3 and A=2 B=3.
  EXPECT_EQ(far, (std::vector<bool>{false, false, false, false, false, false, false, false, false, true, true}));
}

TEST(SearchProposer, begins_with_analytic_and_archived_seeds_in_turn) {
  const Style& style = small();
  auto same = make_candidate(*emit_small(k_problem, synthetic::device(), {{"mode", 1}}), {{"A", 3}});
  Bundle other_problem = synthetic::bundle({{"A", {1, 2, 3, 4}, 4}, {"B", {1}, 1}}, {}, "for another problem");
  auto other = make_candidate(other_problem);
  Bundle foreign = synthetic::bundle({{"X", {1}, 1}}, {}, "shares nothing");
  auto nothing = make_candidate(foreign);
  ASSERT_TRUE(same && other && nothing);
  const auto proposals = run_all(*search(style, 5, {*nothing, *same, *other}), flat, 4);
  std::vector<std::string> texts;
  for (const auto& proposal : proposals) {
    std::string text = proposal.origin + ":";
    for (const auto& [name, value] : proposal.candidate.tunables) text += fmt::format(" {}={}", name, value);
    texts.push_back(text);
  }
  // The third analytic seed breaks a constraint.
  EXPECT_THAT(texts, testing::ElementsAre("analytic seed 1: A=2 B=2", "archive seed 1: A=3", "analytic seed 2: A=5",
                                          "archive seed 2: A=3 B=1"));
}

TEST(SearchProposer, repeats_itself_when_replayed) {
  const Style& style = synthetic::five();
  const auto first = run_all(*search(style, 6), synthetic::holed, 300);
  const auto again = run_all(*search(style, 6), synthetic::holed, 300);
  ASSERT_EQ(first.size(), again.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    ASSERT_EQ(first[i].candidate.id(), again[i].candidate.id()) << "proposal " << i;
    ASSERT_EQ(first[i].origin, again[i].origin) << "proposal " << i;
  }
  const auto other = run_all(*search(style, 7), synthetic::holed, 300);
  const auto differs = [&](std::size_t i) { return first[i].candidate.id() != other[i].candidate.id(); };
  EXPECT_TRUE(differs(20) || differs(21) || differs(22)) << "another seed, another order";
}

TEST(SearchProposer, does_not_follow_equivalent_results) {
  const Style& style = synthetic::five();
  // Everything is within 1 %: the incumbent stays the first, and only its neighbours are called neighbours.
  const auto proposals = run_all(
      *search(style, 8), [](const Candidate& c) { return c.tunables.at("A") > 1 ? 0.99e6 : 1e6; }, 26);
  for (const auto& proposal : proposals) {
    EXPECT_TRUE(proposal.origin == "the style's defaults" || proposal.origin.rfind("neighbour of 0 ", 0) == 0)
        << proposal.origin;
  }
}

TEST(SearchProposer, accepts_observations_that_come_late) {
  const Style& style = synthetic::five();
  const auto proposer = search(style, 9);
  Judge judge(synthetic::bowl, 0.01, 9);
  std::vector<Proposal> in_flight;
  std::set<Hash> ids;
  for (int i = 0; i < 400; ++i) {
    if (auto proposal = proposer->next()) {
      EXPECT_TRUE(ids.insert(proposal->candidate.id()).second) << "seed 9";
      in_flight.push_back(*std::move(proposal));
    }
    if (in_flight.size() == 4) {
      proposer->observe(judge.judge(in_flight.front()));
      in_flight.erase(in_flight.begin());
    }
  }
  EXPECT_LE(judge.best(), 1.05e6) << "seed 9";
}

TEST(SearchProposer, passes_on_why_a_style_cannot_be_used) {
  const auto proposer = make_search_proposer({&k_problem, synthetic::device(), "opencl", "nonsense", 0, {}});
  ASSERT_FALSE(proposer.has_value());
  EXPECT_EQ(proposer.error().code, errc::codegen_style);
  Style style = small();
  style.emit = [](const Problem&, const DeviceFacts&, const IntBindings&) -> Result<Bundle> {
    return fail(errc::codegen_unsupported, "not today");
  };
  const auto refused = make_search_proposer(style, {&k_problem, synthetic::device(), "opencl", "", 0, {}});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().to_string(), "not today [codegen.unsupported]");
}

/// Two accepted attempts; the second is timed against a best that is this search's own, or somebody else's. Where the
/// search stands then: the ordinal that its next neighbour is one of.
std::string after_second(bool others_hold_best) {
  const auto proposer = search(synthetic::five(), 3);
  Attempt attempt;
  attempt.measurement = Measurement();
  for (std::int64_t i = 0; i < 2; ++i) {
    auto proposal = proposer->next();
    attempt.ordinal = i;
    attempt.candidate = proposal->candidate;
    attempt.measurement->median_ns = i == 0 ? 10e6 : 5e6;
    attempt.became_best = i == 0;
    if (i == 1) attempt.measurement->versus = {{"incumbent", Comparison::slower, 0.5, {}, 10, 0}};
    proposer->observe(attempt);
    if (i == 0 && others_hold_best) {
      Attempt other = attempt;
      other.ordinal = 100;
      proposer->others_observed(other);
    }
  }
  std::string origin;
  while (origin.rfind("neighbour of ", 0) != 0) {
    auto proposal = proposer->next();
    origin = proposal->origin;
    attempt.ordinal += 1;
    attempt.candidate = proposal->candidate;
    attempt.verdict.reject(GateId::build, Reason::build_failed, "no");
    proposer->observe(attempt);
  }
  return origin.substr(0, origin.find(" ("));
}

TEST(SearchProposer, takes_no_comparison_with_another_proposers_best_for_one_with_its_own) {
  EXPECT_EQ(after_second(false), "neighbour of 0") << "slower than its best, by the paired comparison";
  EXPECT_EQ(after_second(true), "neighbour of 1") << "slower than another's best, and faster than its own";
}

}  // namespace
}  // namespace kw
