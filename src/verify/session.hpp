#pragma once
// What the gates share: the run's fixed facts (Session) and one candidate on its way through (Trial). Internal to
// verify/; everyone else sees Verifier.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/rng.hpp"
#include "verify/verifier.hpp"

namespace kw {

/// A built kernel in a process of its own, ready to be timed. Plan i belongs to workload i.
struct Contender {
  Candidate candidate;
  StartRequest built;
  std::unique_ptr<KernelProcess> process;
};

inline constexpr const char* k_budget_ended = "not decided, the budget ended during it";

/// How long a step may take.
struct Patience {
  Duration time{};
  bool ends_budget = false;  ///< it ends when the budget does: running out of it says nothing about a candidate
};

struct Session {
  const Problem& problem;
  Workbench& bench;
  const Clock& clock;
  VerifierOptions options;
  WorkloadCost cost;  ///< of the primary workload
  Rng rng;            ///< order of timing data, poison values
  CheckSuite suite;
  Contender plain;  ///< without a process where there is no plain kernel
  BaselineRecord plain_time;
  std::optional<Contender> incumbent;
  double request_ns = 0;  ///< what a request to the plain kernel's process took beyond the launch, at worst
  double device_seconds = 0;
  Instant deadline = Instant::max();  ///< of what is being verified
  bool cut_off = false;               ///< the deadline passed before it was decided
  Instant opened{};                   ///< by the clock
  Duration profiling{};               ///< what the profiler has taken since

  /// Whether the device's times say anything; a simulator's do not, and then nothing is ever timed.
  [[nodiscard]] bool timed() const { return options.device.kind != DeviceKind::simulator; }
  /// `usual`, or what is left until the deadline.
  [[nodiscard]] Patience patience(Duration usual) const;
  /// Whether the deadline has passed; remembered in cut_off.
  [[nodiscard]] bool out_of_time();
  /// Whether the profiler has taken a tenth of the time at most so far: it is for the reader, and the search must go
  /// on.
  [[nodiscard]] bool time_for_profiler() const;
  /// For one launch of the primary workload or a smaller one.
  [[nodiscard]] Duration launch_deadline() const;
  /// Least time the device's measured peaks allow for the primary workload; nothing without peaks.
  [[nodiscard]] std::optional<double> roofline_ns() const;
};

struct Trial {
  Contender contender;
  Verdict verdict;
  BuildReport build;
  std::optional<Measurement> measurement;
  AccuracyTable accuracy;
  bool skipped = false;    ///< the gate that returned true had nothing to go by, and was not passed
  bool yardstick = false;  ///< the plain kernel: the user's requirements are not about it
};

}  // namespace kw
