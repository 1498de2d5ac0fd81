#pragma once
// A Proposer writes candidates and learns from attempts. The loop calls it from one thread: next(), then exactly one
// observe() per proposal, in the order they were proposed. Deterministic for its seed and the observed attempts, which
// is what makes a killed run resumable by replay.

#include <memory>
#include <optional>
#include <string>

#include "record/attempt.hpp"

namespace kw {

struct Proposal {
  Candidate candidate;
  std::string proposer;
  std::string origin;  ///< why: "analytic seed 2", "neighbour of 12 (BM)"
};

class Proposer {
 public:
  virtual ~Proposer() = default;
  /// Nothing when the space is exhausted.
  virtual std::optional<Proposal> next() = 0;
  virtual void observe(const Attempt& attempt) = 0;
};

}  // namespace kw
