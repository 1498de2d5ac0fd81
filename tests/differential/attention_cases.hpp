#pragma once
// Runs a random program through every style and the real verifier, and makes failing ones small.

#include <memory>
#include <string>

#include "codegen/codegen.hpp"
#include "tests/differential/random_attention.hpp"
#include "verify/processes/process_backend.hpp"

namespace kw {

struct CaseOutcome {
  enum class Status : std::uint8_t {
    agrees,
    unscorable,  ///< nothing can be learnt: zeros, say, would pass
    fails,
  };
  Status status = Status::agrees;
  std::string stage;  ///< of a failure: "problem", "plain", "emit" or the style under test
  std::string message;
};

class AttentionCases {
 public:
  /// OpenCL runs on its first device, CUDA on the simulator of an architecture that every style is written for.
  [[nodiscard]] static Result<AttentionCases> open(const std::string& target);

  /// Every shape under every distribution: the plain style against the oracle, and another style with the program's
  /// assignment; both are drawn when they are empty.
  [[nodiscard]] CaseOutcome run(RandomAttention& program);
  /// The smallest variant found that fails in the same stage.
  [[nodiscard]] RandomAttention shrink(RandomAttention program, const std::string& stage);

 private:
  AttentionCases(std::string target, std::unique_ptr<ExecutionBackend> backend)
      : target_(std::move(target)), backend_(std::move(backend)) {}
  Result<const Style*> style(const Problem& problem, RandomAttention& program) const;
  Result<Candidate> candidate(const Problem& problem, RandomAttention& program) const;

  std::string target_;
  std::unique_ptr<ExecutionBackend> backend_;
};

/// The problem, the tile and the command that runs them, for the reader of a failed test.
[[nodiscard]] std::string describe(const RandomAttention& program, const CaseOutcome& outcome);

}  // namespace kw
