#pragma once
// What candidates are measured against, and what is learned while they are: baseline, champion, peaks, the profiler's
// share. Gates of the phase `measure` alone change it, for one candidate at a time.

#include <optional>
#include <vector>

#include "base/clock.hpp"
#include "base/rng.hpp"
#include "hardware/device_facts.hpp"
#include "record/run_record.hpp"
#include "verify/processes/loaded_candidate.hpp"
#include "verify/state/data_ahead.hpp"
#include "verify/state/run_facts.hpp"

namespace kw {

/// The plain kernel. Not loaded where there is none; not timed on a simulator, and then its median is 0.
struct Baseline {
  LoadedCandidate loaded;
  /// Another kernel of ours that is faster and has agreed with the plain one on the primary workload
  /// (reference_kernel.hpp): it answers there in its place. None: the plain kernel answers itself.
  std::optional<LoadedCandidate> reference;
  Duration reference_takes{};  ///< for a launch of a check, with its request
  BaselineRecord time;
  double request_ns = 0;  ///< what a request to its process took beyond the launch, at worst of the timed ones
  std::optional<double> least_request_ns;  ///< and at best of all: the baseline is ours, and its claims are true
  std::vector<LaunchOutcome> primaries;    ///< of the checks on the primary workload

  void learn_request(const LaunchOutcome& outcome);

  /// Who answers on the primary workload.
  [[nodiscard]] LoadedCandidate& answering() { return reference ? *reference : loaded; }
  /// What a launch of that one takes, with its request. Nothing where it cannot be launched, or nobody knows yet.
  [[nodiscard]] std::optional<Duration> answering_takes() const;

  /// For one launch of the primary workload or a smaller one.
  [[nodiscard]] Duration launch_deadline(const VerifyDeadlines& deadlines) const;
};

/// Work that a search must not wait for long: all of it together may take a tenth of the time since the opening.
struct TenthOfTime {
  Duration used{};

  /// Whether there is time for what takes about `expected` more.
  [[nodiscard]] bool has_time(const RunFacts& facts, Duration expected = {}) const;
};

/// The profiler is for the reader.
struct ProfilerShare {
  Profiler* profiler = nullptr;  ///< null also after it said that it cannot count: it is not asked again
  TenthOfTime time = {};

  /// For a kernel with these buffers, whose launch takes so long.
  [[nodiscard]] bool has_time(const RunFacts& facts, const LaunchPlan& plan, double launch_ns) const;
};
/// About how long the profiler takes for such a kernel: it runs each launch many times, and puts buffers back each
/// time.
[[nodiscard]] Duration profiling_time(const LaunchPlan& plan, double launch_ns);

struct MeasureState {
  Baseline baseline;
  std::optional<LoadedCandidate> champion;  ///< what candidates are timed against: the best so far, or a reference
  DeviceFacts device;                       ///< with its peaks as they were last measured: the run's only ones
  Rng rng;                                  ///< order of timing data
  ProfilerShare profiling;
  TenthOfTime retiming = {};  ///< of candidates whose pairs were disturbed, which is no fault of theirs
  TenthOfTime stepping = {};  ///< through the launches of would-be bests
  DataAhead data = {};        ///< for timed launches
  Duration data_of_launch{};  ///< as Verifier has it
  double proved_speedup = 1;  ///< over the champion: the most that a proved candidate has reached

  /// Least time the device's measured peaks allow for the primary workload; nothing without peaks.
  [[nodiscard]] std::optional<double> roofline_ns(const RunFacts& facts) const;

  /// Whether a candidate with these times would be the best of all, and is worth all the evidence there is. Where each
  /// such candidate becomes the champion, all that are faster than it by the rule; where the champion stays, as in a
  /// table of times, only those that are also faster than what was proved before.
  [[nodiscard]] bool would_be_best(const Measurement& measurement) const;
  /// After all gates. Of a candidate that is not faster by the rule the ratio says nothing.
  void note_proved(const Measurement& measurement);
};

/// Whether an accepted candidate becomes the champion: the first does, a later one must be faster by the rule.
[[nodiscard]] bool becomes_best(const Measurement& measurement);

}  // namespace kw
