#include "measure/measure.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kw {
namespace {

/// A machine on which somebody else works now and then: during a burst everything takes 1.5 to 3 times as long.
class NoisyMachine {
 public:
  NoisyMachine(double noise, double burst_share, std::uint64_t seed)
      : rng_(seed), noise_(noise), burst_share_(burst_share) {}

  double run(double true_ns) {
    // Bursts last 20 runs on average, so that the two halves of a pair mostly share one.
    constexpr double k_end = 0.05;
    const double begin = k_end * burst_share_ / (1 - burst_share_);
    if (rng_.uniform() < (slowdown_ > 1 ? k_end : begin)) {
      slowdown_ = slowdown_ > 1 ? 1 : 1.5 + 1.5 * rng_.uniform();
    }
    return true_ns * slowdown_ * std::exp(noise_ * rng_.normal());
  }

 private:
  Rng rng_;
  double noise_;
  double burst_share_;
  double slowdown_ = 1;
};

struct Outcome {
  Versus versus;
  bool stopped_early = false;
};

/// Runs one comparison to its decision; `speedup` is the truth.
Outcome compare(NoisyMachine& machine, double speedup, std::uint64_t seed, const ComparisonRule& rule = {}) {
  constexpr double k_other_ns = 1e6;
  PairedComparison comparison(rule, seed);
  while (!comparison.decided()) {
    TimedPair pair;
    const bool this_first = comparison.this_first();
    if (this_first) pair.this_ns = machine.run(k_other_ns / speedup);
    pair.other_ns = machine.run(k_other_ns);
    if (!this_first) pair.this_ns = machine.run(k_other_ns / speedup);
    comparison.add(pair);
  }
  return {comparison.result(), comparison.stopped_early()};
}

constexpr double k_quiet = 0.005;
constexpr double k_no_bursts = 0;
constexpr double k_bursty = 0.3;

TEST(Median, is_the_middle_or_the_mean_of_two) {
  EXPECT_EQ(median(std::vector<double>{3, 1, 2}), 2);
  EXPECT_EQ(median(std::vector<double>{4, 1, 3, 2}), 2.5);
  EXPECT_EQ(median(std::vector<double>{7}), 7);
}

/// The textbook way, against which the order-statistics shortcut is checked.
Interval plain_bootstrap(const std::vector<double>& values, double confidence, int resamples, Rng& rng) {
  std::vector<double> medians;
  for (int i = 0; i < resamples; ++i) {
    std::vector<double> resample;
    for (std::size_t j = 0; j < values.size(); ++j) {
      resample.push_back(values[static_cast<std::size_t>(rng.below(std::ssize(values)))]);
    }
    medians.push_back(median(resample));
  }
  std::sort(medians.begin(), medians.end());
  const auto tail = static_cast<std::size_t>((1 - confidence) / 2 * resamples);
  return {medians[tail], medians[medians.size() - 1 - tail], confidence};
}

TEST(Bootstrap, agrees_with_plain_resampling) {
  constexpr std::uint64_t k_seed = 5;
  Rng rng(k_seed);
  for (const int n : {1, 2, 3, 10, 31}) {
    std::vector<double> values;
    for (int i = 0; i < n; ++i) values.push_back(rng.normal());
    const auto fast = bootstrap_median(values, 0.9, 5000, rng);
    const auto plain = plain_bootstrap(values, 0.9, 5000, rng);
    EXPECT_NEAR(fast.low, plain.low, 0.1) << "n " << n << ", seed " << k_seed;
    EXPECT_NEAR(fast.high, plain.high, 0.1) << "n " << n << ", seed " << k_seed;
    EXPECT_EQ(fast.confidence, n >= 10 ? 0.9 : 1 - std::exp2(1 - n)) << n;
  }
}

TEST(Bootstrap, of_few_values_is_as_sure_as_their_extremes_can_be) {
  constexpr std::uint64_t k_seed = 8;
  constexpr int k_trials = 4000;
  Rng rng(k_seed);
  for (const int n : {2, 3, 5}) {
    int covered = 0;
    double said = 0;
    for (int trial = 0; trial < k_trials; ++trial) {
      std::vector<double> values;
      for (int i = 0; i < n; ++i) values.push_back(rng.normal());
      const auto interval = bootstrap_median(values, 0.99, 500, rng);
      said = interval.confidence;
      covered += interval.low <= 0 && interval.high >= 0 ? 1 : 0;
    }
    EXPECT_LT(said, 0.99);
    EXPECT_NEAR(covered, said * k_trials, 4 * std::sqrt(said * (1 - said) * k_trials)) << n << ", seed " << k_seed;
  }
}

TEST(Bootstrap, covers_the_true_median_as_often_as_it_says) {
  constexpr std::uint64_t k_seed = 6;
  Rng rng(k_seed);
  int covered = 0;
  constexpr int k_trials = 400;
  for (int trial = 0; trial < k_trials; ++trial) {
    std::vector<double> values;
    for (int i = 0; i < 40; ++i) values.push_back(rng.normal());
    const auto interval = bootstrap_median(values, 0.95, 500, rng);
    covered += interval.low <= 0 && 0 <= interval.high ? 1 : 0;
  }
  EXPECT_GE(covered, k_trials * 92 / 100) << "seed " << k_seed;
}

TEST(Bootstrap, is_deterministic_for_its_seed) {
  std::vector<double> values(25);
  std::iota(values.begin(), values.end(), 0.0);
  Rng a(9);
  Rng b(9);
  const auto first = bootstrap_median(values, 0.99, 500, a);
  const auto second = bootstrap_median(values, 0.99, 500, b);
  EXPECT_EQ(first.low, second.low);
  EXPECT_EQ(first.high, second.high);
  EXPECT_LT(first.low, 12);
  EXPECT_GT(first.high, 12);
}

TEST(AllBelow, needs_a_gap_and_enough_values_for_the_probability) {
  const std::vector<double> fast = {10, 11, 10.5, 12, 10, 10, 11, 10, 10, 10, 10, 10, 10};
  const std::vector<double> two = {100, 90}, one = {100}, near = {100, 12.1};
  EXPECT_TRUE(all_below(fast, two, 1.02, 0.01)) << "1 of 105";
  EXPECT_FALSE(all_below(fast, one, 1.02, 0.01)) << "1 of 14";
  EXPECT_FALSE(all_below(fast, near, 1.02, 0.01)) << "within the band";
  EXPECT_FALSE(all_below(two, fast, 1.02, 0.01));
  EXPECT_FALSE(all_below({}, two, 1.02, 0.01));
  EXPECT_FALSE(all_below(std::span(fast).first(12), two, 1.02, 0.01)) << "1 of 91";
}

TEST(AllBelow, rarely_sets_equal_kernels_apart) {
  Rng rng(7);
  int apart = 0;
  for (int run = 0; run < 20000; ++run) {
    std::vector<double> a, b;
    for (int i = 0; i < 9; ++i) a.push_back(1 + rng.uniform());
    for (int i = 0; i < 3; ++i) b.push_back(1 + rng.uniform());
    apart += all_below(a, b, 1.0, 0.01) ? 1 : 0;
  }
  EXPECT_NEAR(apart / 20000.0, 1 / 220.0, 0.003);
}

TEST(PairedComparison, interleaves_abba) {
  PairedComparison comparison({}, 1);
  std::vector<bool> order;
  for (int i = 0; i < 6; ++i) {
    order.push_back(comparison.this_first());
    // A discarded pair is measured again in the same order.
    if (i == 1) {
      comparison.add({100, 100, true});
      EXPECT_EQ(comparison.this_first(), order.back());
    }
    comparison.add({100, 101, false});
  }
  EXPECT_EQ(order, (std::vector<bool>{true, false, true, false, true, false}));
}

TEST(PairedComparison, rarely_prefers_one_of_two_equals) {
  constexpr int k_trials = 200;
  for (const double bursts : {k_no_bursts, k_bursty}) {
    constexpr std::uint64_t k_seed = 100;
    NoisyMachine machine(k_quiet, bursts, k_seed);
    int wrong = 0;
    for (std::uint64_t trial = 0; trial < k_trials; ++trial) {
      const auto decision = compare(machine, 1, trial).versus.decision;
      wrong += decision == Comparison::faster || decision == Comparison::slower ? 1 : 0;
    }
    EXPECT_LE(wrong, k_trials / 100) << "seed " << k_seed << ", share of bursts " << bursts;
  }
}

TEST(PairedComparison, rarely_prefers_one_of_two_equals_on_a_machine_with_much_noise) {
  // Noise of 5 % a run: the band no longer protects, only the interval does.
  constexpr int k_trials = 200;
  constexpr std::uint64_t k_seed = 101;
  NoisyMachine machine(0.05, k_bursty, k_seed);
  int wrong = 0;
  for (std::uint64_t trial = 0; trial < k_trials; ++trial) {
    const auto decision = compare(machine, 1, trial).versus.decision;
    wrong += decision == Comparison::faster || decision == Comparison::slower ? 1 : 0;
  }
  EXPECT_LE(wrong, k_trials / 100) << "seed " << k_seed;
}

TEST(PairedComparison, finds_a_difference_of_five_percent) {
  constexpr int k_trials = 100;
  constexpr std::uint64_t k_seed = 200;
  NoisyMachine machine(k_quiet, k_bursty, k_seed);
  int faster = 0;
  int slower = 0;
  double pairs = 0;
  for (std::uint64_t trial = 0; trial < k_trials; ++trial) {
    const auto gain = compare(machine, 1.05, trial).versus;
    faster += gain.decision == Comparison::faster ? 1 : 0;
    EXPECT_NEAR(gain.speedup, 1.05, 0.02) << "seed " << k_seed << " trial " << trial;
    pairs += static_cast<double>(gain.pairs) / k_trials;
    slower += compare(machine, 1 / 1.05, trial).versus.decision == Comparison::slower ? 1 : 0;
  }
  EXPECT_GE(faster, k_trials * 95 / 100) << "seed " << k_seed;
  EXPECT_GE(slower, k_trials * 95 / 100) << "seed " << k_seed;
  EXPECT_LE(pairs, 40) << "seed " << k_seed << ": the cost of a decision";
}

TEST(PairedComparison, calls_identical_kernels_equivalent) {
  constexpr std::uint64_t k_seed = 300;
  NoisyMachine machine(k_quiet, k_bursty, k_seed);
  int equivalent = 0;
  for (std::uint64_t trial = 0; trial < 100; ++trial) {
    equivalent += compare(machine, 1, trial).versus.decision == Comparison::equivalent ? 1 : 0;
  }
  EXPECT_GE(equivalent, 95) << "seed " << k_seed;
}

TEST(PairedComparison, stays_undecided_on_the_edge_of_the_band) {
  PairedComparison comparison({}, 1);
  // Half of the pairs say 1 % and half say 3 %: neither beyond 2 % nor within it.
  for (int i = 0; !comparison.decided(); ++i) comparison.add({100, i % 4 < 2 ? 101.0 : 103.0, false});
  EXPECT_EQ(comparison.result().decision, Comparison::undecided);
  EXPECT_EQ(comparison.result().pairs, 160);
}

TEST(PairedComparison, stops_a_hopeless_candidate_after_three_pairs) {
  NoisyMachine machine(k_quiet, k_no_bursts, 1);
  const auto outcome = compare(machine, 1 / 2.0, 1);
  EXPECT_TRUE(outcome.stopped_early);
  EXPECT_EQ(outcome.versus.decision, Comparison::slower);
  EXPECT_EQ(outcome.versus.pairs, 3);
  EXPECT_NEAR(outcome.versus.speedup, 0.5, 0.02);
}

TEST(PairedComparison, does_not_give_up_on_a_candidate_for_one_burst) {
  PairedComparison comparison({}, 1);
  comparison.add({200, 100, false});
  comparison.add({200, 100, false});
  comparison.add({90, 100, false});
  EXPECT_FALSE(comparison.decided());
  while (!comparison.decided()) comparison.add({90, 100, false});
  EXPECT_EQ(comparison.result().decision, Comparison::faster);
  EXPECT_FALSE(comparison.stopped_early());
}

TEST(PairedComparison, decides_on_what_there_is_when_time_is_up) {
  ComparisonRule rule;
  rule.looks = {40};
  PairedComparison comparison(rule, 1);
  for (int i = 0; i < 12; ++i) comparison.add({100, 200.0 + i, false});
  EXPECT_FALSE(comparison.decided());
  comparison.finish();
  EXPECT_EQ(comparison.result().decision, Comparison::faster);
  PairedComparison few({}, 1);
  for (int i = 0; i < 4; ++i) few.add({100, 200.0 + i, false});
  few.finish();
  EXPECT_EQ(few.result().decision, Comparison::undecided) << "twice as fast in each of too few pairs";
  EXPECT_EQ(few.result().speedup_ci.confidence, 1 - std::exp2(1 - 4));
  PairedComparison empty({}, 1);
  empty.finish();
  EXPECT_EQ(empty.result().decision, Comparison::undecided);
}

TEST(PairedComparison, a_search_stops_as_soon_as_faster_is_ruled_out) {
  PairedComparison comparison(search_rule(), 1);
  // Between equivalent and slower: the full rule would go on, a search has its answer.
  for (int i = 0; !comparison.decided(); ++i) comparison.add({100, i % 2 == 0 ? 97.0 : 100.0, false});
  EXPECT_EQ(comparison.result().decision, Comparison::undecided);
  EXPECT_EQ(comparison.result().pairs, 6);
  PairedComparison faster(search_rule(), 1);
  for (int i = 0; !faster.decided(); ++i) faster.add({100, 106.0 + i % 3, false});
  EXPECT_EQ(faster.result().decision, Comparison::faster);
  EXPECT_EQ(faster.result().pairs, 6);
}

/// Pairs until a search gives up on a candidate that takes `ratio` times as long, without noise.
std::int64_t pairs_of_a_search(double ratio) {
  PairedComparison comparison(search_rule(), 1);
  while (!comparison.decided()) comparison.add({ratio * 1e6, 1e6, false});
  EXPECT_EQ(comparison.result().decision, Comparison::slower) << ratio;
  EXPECT_EQ(comparison.stopped_early(), comparison.result().pairs < 6) << ratio;
  return comparison.result().pairs;
}

TEST(PairedComparison, a_search_gives_up_the_sooner_the_slower_a_candidate_is) {
  EXPECT_EQ(pairs_of_a_search(1.6), 2);
  EXPECT_EQ(pairs_of_a_search(1.2), 3);
  EXPECT_EQ(pairs_of_a_search(1.07), 5);
  EXPECT_EQ(pairs_of_a_search(1.03), 6) << "at the first look";
}

/// A difference at the edge of what counts, which more pairs do not decide, of launches that take so long.
std::int64_t pairs_without_decision(double milliseconds) {
  PairedComparison comparison(search_rule(), 1);
  for (int i = 0; !comparison.decided(); ++i) {
    comparison.add({milliseconds * 1e6, milliseconds * (i % 2 == 0 ? 1.015e6 : 1.025e6), false});
  }
  EXPECT_EQ(comparison.result().decision, Comparison::undecided) << milliseconds;
  return comparison.result().pairs;
}

TEST(PairedComparison, a_search_spends_fewer_pairs_where_launches_take_long) {
  EXPECT_EQ(pairs_without_decision(60), 24);
  EXPECT_EQ(pairs_without_decision(65), 12);
  EXPECT_EQ(pairs_without_decision(120), 12);
  EXPECT_EQ(pairs_without_decision(130), 6);
  PairedComparison faster(search_rule(), 1);
  for (int i = 0; !faster.decided(); ++i) faster.add({1e9, 1.06e9, false});
  EXPECT_EQ(faster.result().decision, Comparison::faster) << "a look that decides is a decision all the same";
}

/// Of a thousand comparisons of a candidate that is `speedup` times as fast, those that were given up early.
int lost_by_a_search(double noise, double burst_share, double speedup, std::uint64_t seed) {
  NoisyMachine machine(noise, burst_share, seed);
  int lost = 0;
  for (std::uint64_t trial = 0; trial < 1000; ++trial) {
    lost += compare(machine, speedup, trial, search_rule()).stopped_early ? 1 : 0;
  }
  return lost;
}

TEST(PairedComparison, a_search_rarely_gives_up_what_is_faster) {
  constexpr std::uint64_t k_seed = 77;
  EXPECT_LE(lost_by_a_search(0.05, k_no_bursts, 1.05, k_seed), 0) << "seed " << k_seed;
  EXPECT_LE(lost_by_a_search(0.10, k_no_bursts, 1.05, k_seed), 10) << "seed " << k_seed;
  EXPECT_LE(lost_by_a_search(k_quiet, k_bursty, 1.05, k_seed), 5) << "seed " << k_seed;
}

TEST(PairedComparison, a_search_rarely_prefers_one_of_two_equals) {
  constexpr std::uint64_t k_seed = 900;
  NoisyMachine machine(k_quiet, k_bursty, k_seed);
  int preferred = 0;
  for (std::uint64_t trial = 0; trial < 200; ++trial) {
    preferred += compare(machine, 1, trial, search_rule()).versus.decision == Comparison::faster ? 1 : 0;
  }
  EXPECT_LE(preferred, 4) << "seed " << k_seed;
}

TEST(PairedComparison, is_unreliable_above_thirty_percent_discarded) {
  PairedComparison comparison({}, 1);
  for (int i = 0; !comparison.decided(); ++i) comparison.add({100, 110, i % 5 < 2});
  EXPECT_EQ(comparison.result().decision, Comparison::unreliable);
  // With the fifth discarded pair the look at ten cannot come out under 30 % any more.
  EXPECT_EQ(comparison.result().pairs, 6);
  EXPECT_EQ(comparison.result().discarded_pairs, 5);
}

TEST(PairedComparison, tolerates_thirty_percent_discarded) {
  PairedComparison comparison({}, 1);
  for (int i = 0; !comparison.decided(); ++i) comparison.add({100, 110, i < 4});
  EXPECT_EQ(comparison.result().decision, Comparison::faster);
  EXPECT_EQ(comparison.result().pairs, 10);
}

TEST(PairedComparison, ends_when_every_pair_is_discarded_or_impossible) {
  PairedComparison comparison({}, 1);
  const double nan = std::nan("");
  for (int i = 0; i < 5; ++i) comparison.add({i % 2 == 0 ? 0 : nan, 100, false});
  ASSERT_TRUE(comparison.decided());
  EXPECT_EQ(comparison.result().decision, Comparison::unreliable);
  EXPECT_EQ(comparison.result().pairs, 0);
  EXPECT_EQ(comparison.result().discarded_pairs, 5);
}

TEST(PairedComparison, is_deterministic_and_asking_changes_nothing) {
  NoisyMachine machine(0.02, k_bursty, 7);
  PairedComparison asked({}, 3);
  PairedComparison silent({}, 3);
  while (!asked.decided()) {
    const TimedPair pair{machine.run(1e6), machine.run(1.03e6), false};
    asked.add(pair);
    silent.add(pair);
    (void)asked.result();
  }
  ASSERT_TRUE(silent.decided());
  EXPECT_EQ(asked.result().decision, silent.result().decision);
  EXPECT_EQ(asked.result().speedup_ci.low, silent.result().speedup_ci.low);
  EXPECT_EQ(asked.result().speedup_ci.high, silent.result().speedup_ci.high);
  EXPECT_DOUBLE_EQ(asked.result().speedup_ci.confidence, 0.998);
}

}  // namespace
}  // namespace kw
