#pragma once
// Modules as problems, and what the verifier says of their kernels on a device: for the tests of this folder.

#include <memory>
#include <optional>
#include <ostream>
#include <string>

#include "base/clock.hpp"
#include "problem/problem.hpp"
#include "record/bundle.hpp"
#include "record/verdict.hpp"
#include "verify/local_verifier.hpp"
#include "verify/processes/execution_backend.hpp"

namespace kw {

/// A module of a test; see module_of().
struct ModuleCase {
  std::string name, result, init;
  std::string inputs = "torch.rand(B, C, H, W)";
  friend void PrintTo(const ModuleCase& one, std::ostream* out) { *out << one.name; }
};

/// A module whose forward() gives `result` of x and more[0], more[1], ...; `init` is the rest of its __init__. The axes
/// are B, C, H, W = 4, 6, 12, 20.
[[nodiscard]] std::string module_of(const std::string& result, const std::string& init, const std::string& inputs);

inline constexpr double k_any_steps = 1e30;

/// `steps` bounds a plain evaluation of the primary, whose axes are halved until it holds. A refusal is a defect.
[[nodiscard]] Problem problem_of_module(const std::string& text, const std::string& file, const std::string& mode = "",
                                        double steps = k_any_steps, const std::string& precision = "");

/// With other defaults for those tunables that it has.
[[nodiscard]] Bundle with_defaults(Bundle bundle, const IntBindings& tunables);

/// A device that stays open. Blocks while kernels run.
class ProgramVerdicts {
 public:
  ProgramVerdicts(const std::string& device, const std::string& target);

  /// Through all gates, with secret data of a fixed seed.
  [[nodiscard]] Verdict verdict_of(const Problem& problem, Bundle bundle) const;
  /// Why no kernel of the problem can be verified; nothing where one can.
  [[nodiscard]] std::optional<Error> refusal_of(const Problem& problem) const;
  /// For the device, or for one that differs from it in the architecture ("sm_80"), in the number of units, each with
  /// its share of the last cache, or in the bytes of the first cache.
  [[nodiscard]] Bundle emitted(const Problem& problem, const std::string& style, const std::string& arch = "",
                               const IntBindings& structure = {}, std::int64_t units = 0,
                               std::int64_t l1_cache_bytes = 0) const;

 private:
  [[nodiscard]] Result<std::unique_ptr<LocalVerifier>> verifier_of(const Problem& problem) const;

  std::string target_;
  std::unique_ptr<ExecutionBackend> backend_;
  SteadyClock clock_;
};

}  // namespace kw
