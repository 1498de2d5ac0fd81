#pragma once
// Which kernels a run has seen, so that none is verified twice: of any proposer as they stand, and of the model's own
// also those that differ in names, comments and blanks alone. Pure state.

#include <set>
#include <vector>

#include "base/hash.hpp"
#include "record/bundle.hpp"
#include "record/turn.hpp"

namespace kw {

class WrittenKernels {
 public:
  /// Another proposer's.
  void add(const Candidate& candidate) { seen_.insert(candidate.id()); }
  /// Those of an answer that are new. Without any, the turn's fault says why.
  [[nodiscard]] std::vector<Candidate> take_new(std::vector<Bundle> bundles, Turn& turn);
  /// Nothing is known of it after all, and it may be sent again.
  void forget(const Candidate& candidate);

 private:
  std::set<Hash> seen_;
  std::set<Hash> written_;  ///< by the model, as novelty_identity has them
};

}  // namespace kw
