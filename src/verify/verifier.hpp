#pragma once
// The verifier: runs one candidate at a time through the gates, in order, stopping at the first failure. It owns the
// check suite, the yardstick and the incumbent's process; the loop owns the verifier. Not thread-safe.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/parallel.hpp"
#include "base/result.hpp"
#include "measure/measure.hpp"
#include "record/attempt.hpp"
#include "record/requirement.hpp"
#include "record/run_record.hpp"
#include "verify/check_suite.hpp"
#include "verify/profiler.hpp"
#include "verify/sanitizer.hpp"
#include "verify/workbench.hpp"

namespace kw {

namespace errc {
inline constexpr ErrorCode yardstick{"verify.yardstick", ExitClass::internal};  ///< the plain kernel itself fails
inline constexpr ErrorCode out_of_time{"verify.out_of_time"};  ///< the budget ended before the first candidate
}  // namespace errc

/// How long one step may take before its process is killed. Launches get `launch_floor` or, once the plain kernel has
/// been timed, ten times its time if that is longer.
struct VerifyDeadlines {
  Duration build = std::chrono::seconds(30);
  Duration start = std::chrono::seconds(20);
  Duration launch_floor = std::chrono::seconds(2);
  Duration first_launch = std::chrono::seconds(30);
};

/// Tools that look at would-be best kernels; not owned. None, and null, where the machine has none for the device.
struct VerifierTools {
  std::vector<Sanitizer*> sanitizers = {};  ///< in the order they are asked
  Profiler* profiler = nullptr;
};

struct VerifierOptions {
  std::uint64_t secret_seed = 0;   ///< of input data; never shown to a proposer
  DeviceFacts device;              ///< with the calibrated peaks
  std::optional<Candidate> plain;  ///< the plain kernel: yardstick of accuracy, baseline of speed. Only a simulator
                                   ///< may do without; a fixed error is allowed then
  VerifyDeadlines deadlines;
  ComparisonRule comparison;
  SuiteLimits suite;                          ///< what is left out of the checks
  Instant opening_deadline = Instant::max();  ///< when open() gives up
  std::vector<Requirement> requirements;  ///< checkable on the device (require_checkable); the plain kernel need not
                                          ///< meet them
  VerifierTools tools;
  ParallelFor parallel = serial_for;
};

/// Accuracy of an accepted candidate, one row per case, worst output.
using AccuracyTable = std::vector<AccuracyRow>;

/// Whether an accepted candidate becomes the incumbent: the first does, a later one must be faster by the rule.
[[nodiscard]] bool becomes_best(const Measurement& measurement);

struct VerifyResult {
  Verdict verdict;
  BuildReport build;
  std::optional<Measurement> measurement;
  AccuracyTable accuracy;
  double device_seconds = 0;
};

class Verifier {
 public:
  /// Evaluates the oracle, runs the plain kernel to learn what error is allowed and how fast it is, and refuses
  /// problems that cannot be scored. errc::yardstick when the plain kernel does not build, run or agree with the
  /// oracle; errc::out_of_time when options.opening_deadline passed first.
  [[nodiscard]] static Result<std::unique_ptr<Verifier>> open(const Problem& problem, Workbench& workbench,
                                                              const Clock& clock, VerifierOptions options);
  ~Verifier();
  Verifier(const Verifier&) = delete;
  Verifier& operator=(const Verifier&) = delete;

  /// All gates; timing is against the incumbent when there is one, else alone. What goes wrong is in the verdict. A
  /// candidate whose build or check is not over at `deadline` is given up, undecided; a gate that measures begins
  /// before it or not at all.
  [[nodiscard]] VerifyResult verify(const Candidate& candidate, Instant deadline = Instant::max());
  /// The candidate of the last verify(), which was accepted, becomes the incumbent; its process lives on.
  void promote();
  /// Makes an accepted candidate of an earlier part of the run the incumbent again (resume), in a fresh process.
  [[nodiscard]] Result<void> restore(const Candidate& candidate);

  /// The incumbent against the plain kernel in `processes` pairs of fresh processes; final numbers. There must be one.
  /// Asks `keep_going` before every pair but the first, which is always taken.
  [[nodiscard]] Result<Measurement> final_measurement(int processes, const std::function<bool()>& keep_going);
  /// The plain kernel's own time.
  [[nodiscard]] const BaselineRecord& plain() const;
  [[nodiscard]] const CheckSuite& suite() const;
  /// Device time used since open(), launches only.
  [[nodiscard]] double device_seconds() const;

 private:
  struct State;
  explicit Verifier(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace kw
