#pragma once
// What stays as it is for as long as a verifier is open: every gate reads it, none writes it.

#include "base/clock.hpp"
#include "problem/problem.hpp"
#include "verify/processes/execution_backend.hpp"
#include "verify/state/options.hpp"

namespace kw {

struct RunFacts {
  const Problem& problem;
  ExecutionBackend& backend;
  const Clock& clock;
  VerifierOptions options;
  CheckSuite suite;  ///< with what error is allowed
  Instant opened{};  ///< by the clock

  /// Its limits. Its peaks are those of the opening; MeasureState::device has what was measured since.
  [[nodiscard]] const DeviceFacts& device() const { return options.device; }
  [[nodiscard]] const WorkloadCosts& costs() const { return *options.costs; }
  /// Whether the device's times say anything; a simulator's do not, and then nothing is ever timed.
  [[nodiscard]] bool timed() const { return options.device.kind != DeviceKind::simulator; }
};

}  // namespace kw
