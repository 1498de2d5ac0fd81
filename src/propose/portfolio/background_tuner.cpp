#include "propose/portfolio/background_tuner.hpp"

#include <utility>

#include "propose/better.hpp"
#include "propose/search/bundle_tuner.hpp"

namespace kw {
namespace {

/// The local search's neighbourhood of a bundle with a few tunables is about this large.
constexpr int k_most_tries_without_gain = 24;

}  // namespace

void BackgroundTuner::add(const Attempt& attempt) {
  auto search = make_bundle_tuner(attempt, problem_, device_, seed_ + tuners_.size() + 1);
  if (search) tuners_.push_back({std::move(search), attempt, attempt.provenance.chain.value_or(0), 0, false});
}

BackgroundTuner::Tuner* BackgroundTuner::fastest_unspent() {
  Tuner* fastest = nullptr;
  for (auto& tuner : tuners_) {
    if (tuner.spent) continue;
    if (fastest == nullptr || is_better(tuner.best, &fastest->best)) fastest = &tuner;
  }
  return fastest;
}

std::optional<Proposal> BackgroundTuner::next() {
  while (Tuner* tuner = fastest_unspent()) {
    auto proposal = tuner->tries_without_gain < k_most_tries_without_gain ? tuner->search->next() : std::nullopt;
    if (!proposal) {
      tuner->spent = true;
      continue;
    }
    std::size_t index = 0;
    while (&tuners_[index] != tuner) ++index;
    pending_.push_back(index);
    proposal->proposer = "tune";
    proposal->origin = fmt::format("tunables of {}: {}", tuner->best.ordinal, proposal->origin);
    proposal->provenance.chain = tuner->chain;
    return proposal;
  }
  return std::nullopt;
}

void BackgroundTuner::observe(const Attempt& attempt) {
  KW_CHECK(!pending_.empty(), "attempt {} was observed but never proposed", attempt.ordinal);
  const std::size_t proposed_by = pending_.front();
  pending_.pop_front();
  for (std::size_t i = 0; i < tuners_.size(); ++i) {
    Tuner& tuner = tuners_[i];
    if (i != proposed_by) {
      tuner.search->others_observed(attempt);
      continue;
    }
    const bool better = is_better(attempt, &tuner.best);
    tuner.tries_without_gain = better ? 0 : tuner.tries_without_gain + 1;
    if (better) tuner.best = attempt;
    tuner.search->observe(attempt);
  }
}

void BackgroundTuner::others_observed(const Attempt& attempt) {
  for (auto& tuner : tuners_) tuner.search->others_observed(attempt);
  if (attempt.verdict.accepted() && attempt.provenance.turn) add(attempt);
}

}  // namespace kw
