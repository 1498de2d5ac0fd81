#include "propose/llm/shown_exemplars.hpp"

#include <algorithm>

#include "propose/better.hpp"
#include "propose/llm/prompts/same_source.hpp"

namespace kw {
namespace {

/// So often are exemplars drawn for a chain that others were not shown; then they may be the same.
constexpr int k_draws = 8;
/// A kernel migrates after so many answers of a chain.
constexpr std::int64_t k_answers_between = 4;

std::set<Hash> sources_of(const std::vector<Exemplar>& exemplars) {
  std::set<Hash> sources;
  for (const auto& one : exemplars) sources.insert(source_identity(one.attempt->candidate.bundle));
  return sources;
}

}  // namespace

ShownExemplars::ShownExemplars(ExemplarChoice choice, int count, int chains) : choice_(choice), count_(count) {
  for (int i = 0; i < chains; ++i) islands_.push_back({i});
}

std::vector<Exemplar> ShownExemplars::draw(std::int64_t chain, const std::vector<const Attempt*>& verified,
                                           double plain_ns, Rng& rng) {
  std::vector<Exemplar> drawn;
  for (int i = 0; i < k_draws; ++i) {
    drawn = choose_exemplars(choice_, verified, plain_ns, count_, islands_.at(static_cast<std::size_t>(chain)), rng);
    if (!shown_elsewhere(chain, drawn)) break;
  }
  shown_[chain] = sources_of(drawn);
  return drawn;
}

bool ShownExemplars::shown_elsewhere(std::int64_t chain, const std::vector<Exemplar>& drawn) const {
  const std::set<Hash> sources = sources_of(drawn);
  return std::any_of(shown_.begin(), shown_.end(),
                     [&](const auto& other) { return other.first != chain && other.second == sources; });
}

void ShownExemplars::count_answer(std::int64_t chain, const std::deque<Attempt>& attempts) {
  if (++answers_[chain] % k_answers_between != 0 || islands_.size() == 1) return;
  const std::int64_t from = (chain + 1) % std::ssize(islands_);
  const Attempt* best = nullptr;
  for (const Attempt& attempt : attempts) {
    const bool is_theirs = attempt.provenance.chain == from && attempt.verdict.accepted();
    if (is_theirs && is_better(attempt, best)) best = &attempt;
  }
  if (best != nullptr) islands_[static_cast<std::size_t>(chain)].migrants.insert(best);
}

}  // namespace kw
