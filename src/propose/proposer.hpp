#pragma once
// A Proposer writes candidates and learns from attempts. The loop calls it from one thread: next(), then exactly one
// observe() per proposal, in the order they were proposed. Deterministic for its seed, the attempts it was told of and
// what it was told from outside (each at a known number of attempts), which is what makes a killed run resumable by
// replay. registry.hpp lists them by name; portfolio/ combines several.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "record/attempt.hpp"

namespace kw {

struct Proposal {
  Candidate candidate;
  std::string proposer;
  std::string origin;  ///< why: "analytic seed 2", "neighbour of 12 (BM)"
  Provenance provenance = {};
};

/// Why there is no proposal.
struct Idle {
  enum class Why : std::uint8_t {
    exhausted,  ///< there will never be one
    again,      ///< something was learnt that gave none: ask again at once, unless the budget ended
    waiting,    ///< for an answer from outside, or for what other proposers find: ask again then
    failed,     ///< as exhausted, because of `error`
  };
  Why why = Why::exhausted;
  Error error = {};
};

class Proposer {
 public:
  virtual ~Proposer() = default;
  /// Nothing when there is nothing to try now; idle() then says why.
  virtual std::optional<Proposal> next() = 0;
  [[nodiscard]] virtual Idle idle() const { return {}; }
  virtual void observe(const Attempt& attempt) = 0;

  // Where several proposers share a run, each is told of the others' work: of every proposal when it is made, and of
  // its attempt, in the order in which the loop observes attempts.
  virtual void others_proposed(const Candidate&) {}
  virtual void others_observed(const Attempt&) {}
};

}  // namespace kw
