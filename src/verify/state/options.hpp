#pragma once
// What a verifier is opened with. Callers fill it (loop/verifier_setup.hpp) and then only read.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/clock.hpp"
#include "base/parallel.hpp"
#include "base/time_ledger.hpp"
#include "hardware/device_facts.hpp"
#include "measure/measure.hpp"
#include "problem/workload_costs.hpp"
#include "record/bundle.hpp"
#include "record/requirement.hpp"
#include "verify/checking/check_suite.hpp"

namespace kw {

class Profiler;
class Sanitizer;

/// How long one step may take before its process is killed. Launches get `launch_floor` or, once the baseline has been
/// timed, a few times its time if that is longer (Baseline::launch_deadline).
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
  std::optional<Candidate> plain;  ///< the plain kernel: its accuracy says what error is allowed, its time is the
                                   ///< baseline. Only a simulator may do without; a fixed error is allowed then
  /// Another kernel of ours with the arithmetic of the plain one, where that takes long on the primary workload: it
  /// answers all cases there but the first, on which the two have to agree. None: the plain one answers all.
  std::optional<Candidate> reference;
  /// What will probably be submitted first. On a GPU it is built beside the opening: checking the plain kernel keeps
  /// the device busy there, and the compiler the processor.
  std::optional<Candidate> first;
  /// Whether the plain kernel's launches on the checks tell its time: it takes so long on the primary workload that a
  /// cold cache changes nothing. It is timed otherwise. With a reference they always do.
  bool plain_is_timed_by_checks = false;
  VerifyDeadlines deadlines;
  ComparisonRule comparison;
  SuiteLimits suite;                          ///< what is left out of the checks
  Instant opening_deadline = Instant::max();  ///< when opening gives up
  /// Told once while opening, as soon as a launch of the plain kernel on the primary workload has shown how long one
  /// takes, with what the launches to come take together. Null: nobody wants to know. Never called where nothing is
  /// timed.
  std::function<void(Duration launch, Duration rest)> foresee = nullptr;
  std::vector<Requirement> requirements;  ///< checkable on the device (require_checkable); the baseline need not
                                          ///< meet them
  VerifierTools tools;
  std::shared_ptr<const WorkloadCosts> costs;  ///< of the problem, shared with whoever asks; null: its own
  ParallelFor parallel = serial_for;
  /// Where there is a champion, judge others on the smallest evidence first, and on all of it only those that would
  /// replace it. Whoever asks about one kernel wants all.
  bool screen = false;
  /// For whoever reads it: have a simulator count what right kernels, and on a GPU would-be best ones, ask of memory;
  /// elsewhere, time would-be best ones without their calls of built-in functions.
  bool count_accesses = false;
  RunBeside beside = serial_beside;
  StartWork start = start_later;
  TimeLedger* ledger = nullptr;  ///< of the thread that owns the verifier; not owned
};

}  // namespace kw
