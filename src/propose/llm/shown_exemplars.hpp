#pragma once
// Which earlier kernels each chain is shown: each its own draw, where there are enough, because two that read the same
// write the same. Each chain has an island; every few answers of a chain the best kernel of the next one in the ring
// comes to it. Pure state: which kernels there are is the caller's to say.

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <vector>

#include "base/hash.hpp"
#include "base/rng.hpp"
#include "propose/llm/prompts/exemplars.hpp"
#include "record/attempt.hpp"

namespace kw {

class ShownExemplars {
 public:
  /// At most `count` for a prompt; chains are numbered from 0.
  ShownExemplars(ExemplarChoice choice, int count, int chains);

  /// For the next prompt of the chain, slowest first, out of `verified`; speed-ups are over `plain_ns`.
  [[nodiscard]] std::vector<Exemplar> draw(std::int64_t chain, const std::vector<const Attempt*>& verified,
                                           double plain_ns, Rng& rng);
  /// The chain's model has answered, with a kernel or without. `attempts` outlive this: a migrant is one of them.
  void count_answer(std::int64_t chain, const std::deque<Attempt>& attempts);

 private:
  [[nodiscard]] bool shown_elsewhere(std::int64_t chain, const std::vector<Exemplar>& drawn) const;

  ExemplarChoice choice_;
  int count_;
  std::vector<Island> islands_;                   ///< by chain
  std::map<std::int64_t, std::int64_t> answers_;  ///< of each chain
  std::map<std::int64_t, std::set<Hash>> shown_;  ///< sources of a chain's last exemplars
};

}  // namespace kw
