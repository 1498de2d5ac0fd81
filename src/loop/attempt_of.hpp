#pragma once
// The record of a candidate that the verifier is done with. For the loop.

#include "propose/proposer.hpp"
#include "record/attempt.hpp"
#include "verify/verifier.hpp"

namespace kw {

/// All but its place and time in the run, and whether it became the best.
[[nodiscard]] Attempt attempt_of(const Proposal& proposal, VerifyResult result);

}  // namespace kw
