#include "propose/llm/prompts/exemplars.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

namespace kw {
namespace {

constexpr double k_plain_ns = 100e6;

/// Verified attempts with the given speed-ups over the plain kernel, each another candidate.
class ExemplarsTest : public testing::Test {
 protected:
  void add(double speedup, std::optional<std::int64_t> chain = std::nullopt) {
    Attempt attempt;
    attempt.ordinal = std::ssize(attempts);
    attempt.candidate.bundle.source = std::to_string(attempt.ordinal);
    attempt.measurement.emplace().median_ns = k_plain_ns / speedup;
    attempt.provenance.chain = chain;
    attempts.push_back(attempt);
  }
  std::vector<const Attempt*> pointers() const {
    std::vector<const Attempt*> all;
    for (const auto& attempt : attempts) all.push_back(&attempt);
    return all;
  }
  std::vector<double> choose(ExemplarChoice choice, int count, Rng& rng, std::int64_t island = 0) const {
    std::vector<double> speedups;
    for (const auto& one : choose_exemplars(choice, pointers(), k_plain_ns, count, Island{island, migrants}, rng)) {
      speedups.push_back(one.speedup);
    }
    return speedups;
  }
  std::vector<Attempt> attempts;
  std::set<const Attempt*> migrants;
};

using testing::DoubleNear;
using testing::ElementsAre;
using testing::IsEmpty;

TEST_F(ExemplarsTest, island_shows_what_came_from_other_chains) {
  add(2, 0);
  add(8, 1);
  add(20, 1);
  Rng rng(1);
  EXPECT_THAT(choose(ExemplarChoice::island, 3, rng), ElementsAre(DoubleNear(2, 1e-9)));
  migrants.insert(&attempts[1]);
  EXPECT_THAT(choose(ExemplarChoice::island, 3, rng), ElementsAre(DoubleNear(2, 1e-9), DoubleNear(8, 1e-9)));
}

TEST_F(ExemplarsTest, bucket_takes_of_one_speed_the_source_that_is_least_alike) {
  const std::string loop = "float sum = 0; for (int i = 0; i < n; ++i) sum += a[i] * b[i];";
  const std::string block = "float16 block[4]; block[0] = vload16(0, q); block[1] = vload16(1, q);";
  for (const double speedup : {2.0, 2.05, 8.0, 8.1}) add(speedup);
  attempts[0].candidate.bundle.source = loop;
  attempts[1].candidate.bundle.source = block;
  attempts[2].candidate.bundle.source = loop + " barrier();";
  attempts[3].candidate.bundle.source = block + " barrier();";
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Rng rng(seed);
    const auto chosen = choose_exemplars(ExemplarChoice::bucket, pointers(), k_plain_ns, 2, {}, rng);
    ASSERT_EQ(chosen.size(), 2U);
    EXPECT_NE(chosen[0].attempt->ordinal + 2, chosen[1].attempt->ordinal) << "seed " << seed << ": a loop with a loop";
  }
}

TEST_F(ExemplarsTest, none_shows_nothing) {
  add(2);
  Rng rng(1);
  EXPECT_THAT(choose(ExemplarChoice::none, 3, rng), IsEmpty());
  EXPECT_THAT(choose(ExemplarChoice::top, 0, rng), IsEmpty());
}

TEST_F(ExemplarsTest, top_shows_the_fastest_slowest_first) {
  for (const double speedup : {3.0, 9.0, 1.0, 5.0}) add(speedup);
  Rng rng(1);
  EXPECT_THAT(choose(ExemplarChoice::top, 2, rng), ElementsAre(DoubleNear(5, 1e-9), DoubleNear(9, 1e-9)));
  EXPECT_EQ(choose(ExemplarChoice::top, 10, rng).size(), 4U);
}

TEST_F(ExemplarsTest, pass_over_what_was_rejected_not_timed_or_seen_already) {
  for (const double speedup : {3.0, 4.0, 5.0, 5.5}) add(speedup);
  attempts[0].verdict.reject(GateId::check, Reason::wrong_result, "wrong");
  attempts[1].measurement.reset();
  attempts[3].candidate = attempts[2].candidate;
  Rng rng(1);
  EXPECT_THAT(choose(ExemplarChoice::top, 4, rng), ElementsAre(DoubleNear(5, 1e-9)));
}

TEST_F(ExemplarsTest, island_keeps_to_its_chain) {
  add(2, 0);
  add(4, 1);
  add(8, 1);
  add(16);
  Rng rng(3);
  EXPECT_THAT(choose(ExemplarChoice::island, 4, rng, 1), ElementsAre(DoubleNear(4, 1e-9), DoubleNear(8, 1e-9)));
  EXPECT_THAT(choose(ExemplarChoice::island, 4, rng, 7), IsEmpty());
}

TEST_F(ExemplarsTest, bucket_shows_one_each_of_distinct_buckets) {
  for (const double speedup : {2.0, 2.05, 2.1, 8.0, 8.1, 20.0}) add(speedup);
  const std::uint64_t seed = 11;
  SCOPED_TRACE(seed);
  Rng rng(seed);
  for (int i = 0; i < 200; ++i) {
    std::set<std::int64_t> buckets;
    const auto chosen = choose(ExemplarChoice::bucket, 3, rng);
    for (const double speedup : chosen) buckets.insert(bucket_of(speedup));
    EXPECT_EQ(buckets.size(), 3U);
    EXPECT_TRUE(std::is_sorted(chosen.begin(), chosen.end()));
  }
}

TEST_F(ExemplarsTest, are_the_same_for_the_same_seed) {
  for (int i = 1; i < 30; ++i) add(1.0 + 0.4 * i);
  for (const auto choice : {ExemplarChoice::random, ExemplarChoice::bucket}) {
    Rng a(5);
    Rng b(5);
    EXPECT_EQ(choose(choice, 4, a), choose(choice, 4, b));
  }
}

/// Drawing two of three buckets without replacement: P(i first) + sum_j P(j first) P(i | j gone).
TEST_F(ExemplarsTest, buckets_are_drawn_as_the_closed_form_says) {
  for (const double speedup : {2.0, 2.02, 5.0, 5.1, 5.2, 9.0}) add(speedup);
  const auto p = bucket_probabilities({2.01, 5.1, 9.0});
  std::vector<double> expected;
  for (std::size_t i = 0; i < 3; ++i) {
    double total = p[i];
    for (std::size_t j = 0; j < 3; ++j) {
      if (j != i) total += p[j] * p[i] / (1 - p[j]);
    }
    expected.push_back(total);
  }
  const std::uint64_t seed = 20261120;
  SCOPED_TRACE(fmt::format("seed {}", seed));
  Rng rng(seed);
  constexpr int k_draws = 20000;
  std::map<std::int64_t, int> bucket_counts;
  std::map<double, int> counts;
  for (int i = 0; i < k_draws; ++i) {
    for (const double speedup : choose(ExemplarChoice::bucket, 2, rng)) {
      ++bucket_counts[bucket_of(speedup)];
      ++counts[speedup];
    }
  }
  ASSERT_EQ(bucket_counts.size(), 3U);
  std::size_t at = 0;
  for (const auto& [bucket, count] : bucket_counts) {
    const double share = static_cast<double>(count) / k_draws;
    // Five standard deviations of a share.
    EXPECT_NEAR(share, expected[at], 5 * std::sqrt(expected[at] * (1 - expected[at]) / k_draws)) << "bucket " << bucket;
    ++at;
  }
  // Inside a bucket every variant is as likely.
  std::vector<int> middle;
  for (const auto& [speedup, count] : counts) {
    if (bucket_of(speedup) == bucket_of(5.0)) middle.push_back(count);
  }
  ASSERT_EQ(middle.size(), 3U);
  const double third = (middle[0] + middle[1] + middle[2]) / 3.0;
  for (const int count : middle) EXPECT_NEAR(count, third, 5 * std::sqrt(third));
}

TEST(BucketProbabilities, follow_the_softmax_whatever_the_scale) {
  const auto p = bucket_probabilities({1.0, 2.0, 3.0});
  // mu = 2, tau = 1: exp(-1), 1, e.
  const double total = std::exp(-1.0) + 1 + std::exp(1.0);
  EXPECT_NEAR(p[0], std::exp(-1.0) / total, 1e-12);
  EXPECT_NEAR(p[2], std::exp(1.0) / total, 1e-12);
  const auto scaled = bucket_probabilities({10.0, 20.0, 30.0});
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(p[i], scaled[i], 1e-12);
  EXPECT_TRUE(bucket_probabilities({}).empty());
}

TEST(ExemplarChoices, are_read_by_name) {
  for (const auto choice : {ExemplarChoice::none, ExemplarChoice::random, ExemplarChoice::top, ExemplarChoice::bucket,
                            ExemplarChoice::island}) {
    EXPECT_EQ(parse_exemplar_choice(to_string(choice)).value(), choice);
  }
  const auto wrong = parse_exemplar_choice("buckets");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, errc::exemplar_choice);
  EXPECT_EQ(wrong.error().message,
            "'buckets' is not a way of choosing exemplars; known are none, random, top, bucket, island");
  EXPECT_EQ(wrong.error().hint, "did you mean bucket?");
}

}  // namespace
}  // namespace kw
