#pragma once
// Sampling plans, stopping rules and robust statistics. Pure: fed with numbers, so everything here is tested on
// synthetic samples. Times are in nanoseconds. Rule and reasons: docs/measuring.md.

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/rng.hpp"
#include "record/attempt.hpp"

namespace kw {

[[nodiscard]] double median(std::span<const double> values);  ///< values must not be empty

/// Percentile bootstrap of the median (Efron 1979): resamples with replacement, deterministic for the generator's seed.
/// The interval's confidence is less than was asked for where so few values cannot give it; 0 for a single one.
[[nodiscard]] Interval bootstrap_median(std::span<const double> values, double confidence, int resamples, Rng& rng);

/// Whether each of `these` is more than `factor` times smaller than each of `others`, and chance would set equal ones
/// apart so, in this direction, with a probability of `alpha` at most: 1 / C(n + m, n), the extreme of the rank test of
/// Wilcoxon (1945) and of Mann and Whitney (1947). For few values whose difference is large.
[[nodiscard]] bool all_below(std::span<const double> these, std::span<const double> others, double factor,
                             double alpha);

/// One half of an interleaved pair, both measured back to back.
struct TimedPair {
  double this_ns = 0;
  double other_ns = 0;
  bool disturbed = false;  ///< discarded, but counted
};

/// After that many pairs, a candidate that is slower than `slower` times the other in each of them is given up.
struct EarlyStop {
  int pairs = 0;
  double slower = 0;
};

struct ComparisonRule {
  std::vector<int> looks = {10, 20, 40, 80, 160};  ///< pairs at which a decision is allowed
  double total_alpha = 0.01;                       ///< spent evenly over the looks (Bonferroni: conservative)
  double equivalence = 0.02;                       ///< +-2 % is called equivalent
  double max_discarded = 0.30;                     ///< above this share at a look the result is `unreliable`
  int resamples = 2000;
  std::vector<EarlyStop> early = {{3, 1.5}};  ///< stopped as slower; none: every candidate gets to a look
  /// A search only asks "is it faster?": stop at the first look whose interval rules that out, `undecided` unless the
  /// interval also says slower or equivalent.
  bool only_if_faster = false;
  /// Nanoseconds. A look that decides nothing is the last one once the kept launches have taken so long together:
  /// another would take as long again, and what is left to be found is small.
  double enough_ns = std::numeric_limits<double>::infinity();
};

/// The rule for candidates of a search: few pairs, and no more of them than it takes to rule out "faster". The best
/// kernel is measured again in fresh processes, so that a lucky one does not keep its luck.
[[nodiscard]] ComparisonRule search_rule();

/// Interleaved comparison with fixed looks: order() says which side runs first (ABBA), add() takes the pair, decided()
/// is the stopping rule. Looks count the pairs that were kept. Times that are not positive are discarded like
/// disturbed ones: they come from a candidate's process.
class PairedComparison {
 public:
  PairedComparison(ComparisonRule rule, std::uint64_t seed);
  /// True when "this" runs first in the next pair.
  [[nodiscard]] bool this_first() const;
  void add(const TimedPair& pair);
  /// No more pairs will come, for a reason that has nothing to do with their values (time is up): decides on the pairs
  /// there are, `undecided` where they are too few for the confidence of a look. Nothing when it was decided already.
  void finish();
  [[nodiscard]] bool decided() const;
  [[nodiscard]] bool stopped_early() const;
  /// The decision so far; `undecided` while !decided() and when the cap was reached without one. The name is left to
  /// the caller; the interval has the confidence of one look, or the less that so few pairs give.
  [[nodiscard]] Versus result() const;

 private:
  [[nodiscard]] bool is_unreliable() const;
  [[nodiscard]] bool is_hopeless() const;
  [[nodiscard]] double confidence_of_look() const;
  [[nodiscard]] Versus summary() const;
  void look();
  void conclude(Comparison decision);

  ComparisonRule rule_;
  std::uint64_t seed_;
  std::vector<TimedPair> pairs_;  ///< kept ones
  double launched_ns_ = 0;        ///< of these together
  std::int64_t discarded_ = 0;
  bool decided_ = false;
  bool stopped_early_ = false;
  Versus result_;
};

}  // namespace kw
