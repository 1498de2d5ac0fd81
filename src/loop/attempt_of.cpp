#include "loop/attempt_of.hpp"

#include <utility>

namespace kw {

Attempt attempt_of(const Proposal& proposal, VerifyResult result) {
  Attempt attempt;
  attempt.proposer = proposal.proposer;
  attempt.origin = proposal.origin;
  attempt.provenance = proposal.provenance;
  attempt.candidate = proposal.candidate;
  attempt.verdict = std::move(result.verdict);
  attempt.build = std::move(result.build);
  attempt.accuracy = std::move(result.accuracy);
  attempt.measurement = std::move(result.measurement);
  attempt.accesses = std::move(result.accesses);
  attempt.device_seconds = result.device_seconds;
  return attempt;
}

}  // namespace kw
