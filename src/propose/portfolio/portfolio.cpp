#include "propose/portfolio/portfolio.hpp"

#include <algorithm>
#include <utility>

namespace kw {
namespace {

/// Of a new best over the one before it; 1 for the first.
double gain_of_attempt(const Attempt& attempt) {
  if (!attempt.became_best || !attempt.measurement) return 0;
  for (const auto& versus : attempt.measurement->versus) {
    if (versus.name == "incumbent") return gain_of_speedup(versus.speedup);
  }
  return 1;
}

}  // namespace

Portfolio::Portfolio(std::unique_ptr<Proposer> leader, std::vector<std::unique_ptr<Proposer>> others)
    : bandit_(others.size()), exhausted_(others.size(), false) {
  members_.push_back(std::move(leader));
  for (auto& one : others) members_.push_back(std::move(one));
}

std::optional<Proposal> Portfolio::next_of(std::size_t member) {
  auto proposal = members_[member]->next();
  if (!proposal) return std::nullopt;
  pending_.push_back(member);
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (i != member) members_[i]->others_proposed(proposal->candidate);
  }
  return proposal;
}

std::optional<Proposal> Portfolio::next() {
  if (auto proposal = next_of(0)) return proposal;
  // The loop has to see what the leader learnt before anything else is tried.
  if (members_.front()->idle().why == Idle::Why::again) return std::nullopt;
  return next_of_others();
}

std::optional<Proposal> Portfolio::next_of_others() {
  std::vector<bool> available = exhausted_;
  available.flip();
  while (std::find(available.begin(), available.end(), true) != available.end()) {
    const std::size_t other = bandit_.choose(available);
    if (auto proposal = next_of(1 + other)) return proposal;
    available[other] = false;
    exhausted_[other] = members_[1 + other]->idle().why != Idle::Why::waiting;
  }
  return std::nullopt;
}

void Portfolio::observe(const Attempt& attempt) {
  KW_CHECK(!pending_.empty(), "attempt {} was observed but never proposed", attempt.ordinal);
  const std::size_t member = pending_.front();
  pending_.pop_front();
  if (member > 0) bandit_.reward(member - 1, gain_of_attempt(attempt));
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (i == member) {
      members_[i]->observe(attempt);
    } else {
      members_[i]->others_observed(attempt);
    }
  }
}

void Portfolio::others_proposed(const Candidate& candidate) {
  for (auto& member : members_) member->others_proposed(candidate);
}

void Portfolio::others_observed(const Attempt& attempt) {
  for (auto& member : members_) member->others_observed(attempt);
}

}  // namespace kw
