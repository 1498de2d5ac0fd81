#pragma once
// Runs a random program through every style and the real verifier, and makes failing ones small.

#include <memory>
#include <string>

#include "tests/differential/random_attention.hpp"
#include "verify/process_workbench.hpp"

namespace kw {

struct CaseOutcome {
  enum class Status : std::uint8_t {
    agrees,
    unscorable,  ///< nothing can be learnt: zeros, say, would pass
    fails,
  };
  Status status = Status::agrees;
  std::string stage;  ///< of a failure: "problem", "plain", "vector"
  std::string message;
};

class AttentionCases {
 public:
  /// On the first OpenCL device.
  [[nodiscard]] static Result<AttentionCases> open();

  /// Every shape under every distribution: the plain style against the oracle, and the vector style with the program's
  /// assignment, which is drawn when it is empty.
  [[nodiscard]] CaseOutcome run(RandomAttention& program);
  /// The smallest variant found that fails in the same stage.
  [[nodiscard]] RandomAttention shrink(RandomAttention program, const std::string& stage);

 private:
  explicit AttentionCases(std::unique_ptr<Workbench> workbench) : workbench_(std::move(workbench)) {}
  Result<Candidate> candidate(const Problem& problem, RandomAttention& program) const;

  std::unique_ptr<Workbench> workbench_;
};

/// The problem, the tile and the command that runs them, for the reader of a failed test.
[[nodiscard]] std::string describe(const RandomAttention& program, const CaseOutcome& outcome);

}  // namespace kw
