#pragma once
// A Proposer writes candidates and learns from attempts. The loop calls it from one thread: next(), then exactly one
// observe() per proposal, in the order they were proposed. Deterministic for its seed, the observed attempts and the
// replies it was given (each at a known number of observed attempts), which is what makes a killed run resumable by
// replay.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "record/attempt.hpp"
#include "record/turn.hpp"

namespace kw {

struct Proposal {
  Candidate candidate;
  std::string proposer;
  std::string origin;                      ///< why: "analytic seed 2", "neighbour of 12 (BM)"
  std::optional<std::int64_t> turn = {};   ///< the turn whose reply it is
  std::optional<std::int64_t> chain = {};  ///< the chain that wrote it, or whose kernel it tunes
};

/// Why there is no proposal.
struct Idle {
  enum class Why : std::uint8_t {
    exhausted,  ///< there will never be one
    again,      ///< a reply was taken that gave none: ask again at once, unless the budget ended
    waiting,    ///< a model is thinking: ask again when it answered
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
  /// Turns that ended in next() since the last call, in the order their replies were taken.
  virtual std::vector<Turn> take_turns() { return {}; }
};

}  // namespace kw
