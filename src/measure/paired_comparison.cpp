// The decision rule of docs/measuring.md.

#include <algorithm>
#include <cmath>

#include "base/result.hpp"
#include "measure/measure.hpp"

namespace kw {
namespace {

bool usable(const TimedPair& pair) {
  const auto is_time = [](double ns) { return std::isfinite(ns) && ns > 0; };
  return !pair.disturbed && is_time(pair.this_ns) && is_time(pair.other_ns);
}

/// Above 0 when this is the faster one.
double log_ratio(const TimedPair& pair) {
  return std::log(pair.other_ns / pair.this_ns);
}

}  // namespace

ComparisonRule search_rule() {
  ComparisonRule rule;
  rule.looks = {6, 12, 24};
  // Of a thousand candidates that are 5 % faster, timed with 5 % of noise a launch, these lose none; at most five where
  // everything takes twice as long for 30 % of the time (the tests count them). What is lost is a try, not a verdict.
  rule.early = {{2, 1.5}, {3, 1.1}, {5, 1.05}};
  rule.only_if_faster = true;
  rule.enough_ns = 1.5e9;  // of launches of 63 ms and more the second look is the last, of 125 ms the first
  return rule;
}

PairedComparison::PairedComparison(ComparisonRule rule, std::uint64_t seed) : rule_(std::move(rule)), seed_(seed) {
  KW_CHECK(!rule_.looks.empty() && rule_.looks.front() > 0 && std::is_sorted(rule_.looks.begin(), rule_.looks.end()),
           "a comparison needs looks in rising order");
}

bool PairedComparison::this_first() const {
  // Alternating over the pairs that count makes ABBA of every two of them, whatever was discarded between.
  return pairs_.size() % 2 == 0;
}

void PairedComparison::add(const TimedPair& pair) {
  if (decided_) return;
  if (usable(pair)) {
    pairs_.push_back(pair);
    launched_ns_ += pair.this_ns + pair.other_ns;
  } else {
    ++discarded_;
  }
  if (is_unreliable()) {
    conclude(Comparison::unreliable);
  } else if (usable(pair) && is_hopeless()) {
    stopped_early_ = true;
    conclude(Comparison::slower);
  } else if (usable(pair) &&
             std::find(rule_.looks.begin(), rule_.looks.end(), std::ssize(pairs_)) != rule_.looks.end()) {
    look();
  }
}

bool PairedComparison::is_unreliable() const {
  // Judged at the looks, so that a short burst early on does not end it; but as soon as the next look could not come
  // out otherwise, there is no point in measuring up to it.
  const auto next_look = std::lower_bound(rule_.looks.begin(), rule_.looks.end(), std::ssize(pairs_));
  const auto at_next_look = static_cast<double>(*next_look + discarded_);
  return static_cast<double>(discarded_) > rule_.max_discarded * at_next_look;
}

bool PairedComparison::is_hopeless() const {
  // Every pair must agree: one burst of noise must not end a good candidate after a few of them.
  return std::ranges::any_of(rule_.early, [&](const EarlyStop& stop) {
    return std::ssize(pairs_) == stop.pairs && std::ranges::all_of(pairs_, [&](const TimedPair& pair) {
             return pair.this_ns > stop.slower * pair.other_ns;
           });
  });
}

void PairedComparison::finish() {
  if (decided_) return;
  // So few pairs could not have given the confidence that a decision states.
  if (!pairs_.empty() && summary().speedup_ci.confidence >= confidence_of_look()) look();
  if (!decided_) conclude(Comparison::undecided);
}

void PairedComparison::look() {
  const Versus seen = summary();
  const double band = 1 + rule_.equivalence;
  if (seen.speedup_ci.low > band) {
    conclude(Comparison::faster);
  } else if (seen.speedup_ci.high < 1 / band) {
    conclude(Comparison::slower);
  } else if (seen.speedup_ci.low >= 1 / band && seen.speedup_ci.high <= band) {
    conclude(Comparison::equivalent);
  } else if (std::ssize(pairs_) >= rule_.looks.back() || launched_ns_ >= rule_.enough_ns ||
             (rule_.only_if_faster && seen.speedup_ci.high <= band)) {
    conclude(Comparison::undecided);
  }
}

void PairedComparison::conclude(Comparison decision) {
  result_ = summary();
  result_.decision = decision;
  decided_ = true;
}

double PairedComparison::confidence_of_look() const {
  return 1 - rule_.total_alpha / static_cast<double>(rule_.looks.size());
}

Versus PairedComparison::summary() const {
  Versus versus;
  versus.pairs = std::ssize(pairs_);
  versus.discarded_pairs = discarded_;
  versus.speedup_ci.confidence = 0;
  if (pairs_.empty()) return versus;
  std::vector<double> ratios;
  std::transform(pairs_.begin(), pairs_.end(), std::back_inserter(ratios), log_ratio);
  // Each look has a generator of its own, so that asking for the result in between changes nothing.
  Rng rng = Rng(seed_).split(static_cast<std::uint64_t>(pairs_.size()));
  const auto interval = bootstrap_median(ratios, confidence_of_look(), rule_.resamples, rng);
  versus.speedup = std::exp(median(ratios));
  versus.speedup_ci.low = std::exp(interval.low);
  versus.speedup_ci.high = std::exp(interval.high);
  versus.speedup_ci.confidence = interval.confidence;
  return versus;
}

bool PairedComparison::decided() const {
  return decided_;
}

bool PairedComparison::stopped_early() const {
  return stopped_early_;
}

Versus PairedComparison::result() const {
  return decided_ ? result_ : summary();
}

}  // namespace kw
