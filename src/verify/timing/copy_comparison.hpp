#pragma once
// How near the best kernel comes to what memory allows. Peaks are the best of several launches at another moment:
// beside them a kernel looks slow that waits for memory on a busy or a virtual machine. So a copy of as many bytes is
// launched in turn with it, and the share is the median over the pairs.

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/rng.hpp"
#include "codegen/calibration.hpp"
#include "record/attempt.hpp"
#include "verify/processes/execution_backend.hpp"
#include "verify/processes/step_clock.hpp"
#include "verify/state/measure_state.hpp"
#include "verify/state/run_facts.hpp"

namespace kw {

/// Whether kernels for `work` are set beside a copy: not where operations take longer than bytes, and not on devices
/// whose peaks are not measured (needs_calibration).
[[nodiscard]] bool compares_with_copy(const DeviceFacts& device, const WorkloadCost& work);

/// Says nothing where that is not so, and where the copy, which is ours, cannot be built in time, started or launched.
class CopyComparison {
 public:
  /// Building the copy was seen to take a third of it.
  static constexpr Duration k_to_build = std::chrono::seconds(1);

  /// Builds the copy if it `is_wanted`: where compares_with_copy() says so and there is time. The others must outlive
  /// this.
  CopyComparison(const RunFacts& facts, const MeasureState& measuring, StepClock& clock, bool is_wanted);

  [[nodiscard]] bool says_something() const { return copy_.has_value(); }
  /// In a new process, as the kernel that it is set beside.
  void start();
  /// One cold launch of the copy, after a launch of the kernel that took so long.
  void follow(double kernel_ns);
  /// Nothing without a pair.
  [[nodiscard]] std::optional<BesideCopy> result(Rng& rng) const;

 private:
  const RunFacts& facts_;
  const MeasureState& measuring_;
  StepClock& clock_;
  double kernel_bytes_;
  std::optional<CalibrationKernel> copy_;
  std::string binary_;
  std::unique_ptr<KernelProcess> process_;
  std::vector<double> shares_;
};

}  // namespace kw
