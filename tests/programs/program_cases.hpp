#pragma once
// Runs random modules through all that computes them: reader, oracle (whole and on demand), stages, and every style
// under the real verifier. Makes failing ones small.

#include <memory>
#include <optional>
#include <string>

#include "tests/programs/random_module.hpp"
#include "verify/processes/process_backend.hpp"

namespace kw {

struct ProgramOutcome {
  enum class Status : std::uint8_t {
    agrees,
    unscorable,  ///< reader, oracle and stages agree, and f32 cannot tell a right kernel from a wrong one
    fails,
  };
  Status status = Status::agrees;
  std::string
      stage;  ///< of a failure: "read", "on demand", "stages", "simplified", "plain", "emit" or the style under test
  std::string message;
};

class ProgramCases {
 public:
  /// "oracle" runs no kernels; "opencl" has the first device, "cuda" the simulator of an architecture that every style
  /// is written for. A device's id, such as "cuda:0", has that device, without tools around its launches.
  [[nodiscard]] static Result<ProgramCases> open(const std::string& target);

  /// The module at its own extents and at others that it may have.
  [[nodiscard]] ProgramOutcome run(const RandomModule& module) const;
  /// The smallest variant found that fails in the same stage.
  [[nodiscard]] RandomModule shrink(RandomModule module, const std::string& stage) const;

 private:
  ProgramCases(std::string target, std::unique_ptr<ExecutionBackend> backend)
      : target_(std::move(target)), backend_(std::move(backend)) {}
  [[nodiscard]] ProgramOutcome run_kernels(const Problem& problem, std::uint64_t seed) const;

  std::string target_;
  std::unique_ptr<ExecutionBackend> backend_;  ///< null where no kernels are run
};

/// The failure and the module's text, for the reader of a failed test.
[[nodiscard]] std::string describe(const RandomModule& module, const ProgramOutcome& outcome);

}  // namespace kw
