#include "propose/llm/device_filler.hpp"

#include <algorithm>
#include <utility>

#include "propose/llm/chain.hpp"
#include "propose/search/bundle_tuner.hpp"

namespace kw {
namespace {

constexpr std::size_t k_tune = 0;
constexpr std::size_t k_search = 1;
/// The local search's neighbourhood of a bundle with a few tunables is about this large.
constexpr int k_patience = 24;

double gain_of(const Attempt& attempt) {
  if (!attempt.became_best || !attempt.measurement) return 0;
  for (const auto& versus : attempt.measurement->versus) {
    if (versus.name == "incumbent") return gain_of_speedup(versus.speedup);
  }
  return 1;
}

}  // namespace

void DeviceFiller::add(const Attempt& attempt) {
  auto search = make_bundle_tuner(attempt, problem_, device_, seed_ + tuners_.size() + 1);
  if (search) tuners_.push_back({std::move(search), &attempt, attempt.chain.value_or(0), 0, false});
}

DeviceFiller::Tuner* DeviceFiller::fastest_unspent() {
  Tuner* fastest = nullptr;
  for (auto& tuner : tuners_) {
    if (tuner.spent) continue;
    if (fastest == nullptr || is_better(*tuner.best, fastest->best)) fastest = &tuner;
  }
  return fastest;
}

std::optional<Proposal> DeviceFiller::next_tuned() {
  while (Tuner* tuner = fastest_unspent()) {
    auto proposal = tuner->tries_without_gain < k_patience ? tuner->search->next() : std::nullopt;
    if (!proposal) {
      tuner->spent = true;
      continue;
    }
    pending_.push_back(tuner->search.get());
    proposal->proposer = "tune";
    proposal->origin = fmt::format("tunables of {}: {}", tuner->best->ordinal, proposal->origin);
    proposal->chain = tuner->chain;
    return proposal;
  }
  return std::nullopt;
}

std::optional<Proposal> DeviceFiller::next_searched() {
  if (search_ == nullptr || search_is_spent_) return std::nullopt;
  auto proposal = search_->next();
  if (proposal) pending_.push_back(search_.get());
  search_is_spent_ = !proposal;
  return proposal;
}

std::optional<Proposal> DeviceFiller::next() {
  const std::vector<bool> available = {fastest_unspent() != nullptr, search_ != nullptr && !search_is_spent_};
  if (!available[k_tune] && !available[k_search]) return std::nullopt;
  if (bandit_.choose(available) == k_tune) {
    if (auto proposal = next_tuned()) return proposal;
    return next_searched();
  }
  if (auto proposal = next_searched()) return proposal;
  return next_tuned();
}

void DeviceFiller::observe(const Attempt& attempt) {
  Proposer* proposer = pending_.front();
  pending_.pop_front();
  bandit_.reward(proposer == search_.get() ? k_search : k_tune, gain_of(attempt));
  for (auto& tuner : tuners_) {
    if (tuner.search.get() != proposer) continue;
    const bool better = is_better(attempt, tuner.best);
    tuner.tries_without_gain = better ? 0 : tuner.tries_without_gain + 1;
    if (better) tuner.best = &attempt;
  }
  // A comparison with a kernel the proposer has not seen would be taken for one with its own best.
  Attempt told = attempt;
  if (holder_of_best_ != proposer && told.measurement) told.measurement->versus.clear();
  proposer->observe(told);
  if (attempt.became_best) holder_of_best_ = proposer;
}

void DeviceFiller::note_best(const Attempt& attempt) {
  if (attempt.became_best) holder_of_best_ = nullptr;
}

}  // namespace kw
