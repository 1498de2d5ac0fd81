#pragma once
// One launch of a candidate on one check case, and everything the host looks at afterwards: guard zones, inputs, the
// outputs' bytes. Used by the check gate and for every timed launch, so that what is timed is also checked.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/parallel.hpp"
#include "record/run_record.hpp"
#include "verify/checking/accuracy.hpp"
#include "verify/checking/check_suite.hpp"
#include "verify/checking/stored_inputs.hpp"
#include "verify/processes/loaded_candidate.hpp"
#include "verify/processes/step_clock.hpp"

namespace kw {

/// Accuracy of a candidate, one row per case, worst output.
using AccuracyTable = std::vector<AccuracyRow>;

struct CaseFailure {
  Reason reason = Reason::wrong_result;
  std::string sentence;            ///< may be shown to a proposer: names no held-out sizes
  std::string detail;              ///< for the archive; hidden from proposers when the workload is held out
  bool candidate_at_fault = true;  ///< false: the harness could not run it
};

/// Copies of outputs, in the order of Problem::outputs.
using OutputBytes = std::vector<std::vector<std::byte>>;

struct CaseRun {
  LaunchOutcome time;
  OutputBytes outputs;
  /// By output, where the device has counted and only what CaseMode::looked_at names is in `outputs`; empty: nowhere.
  std::vector<std::optional<UselessCount>> counted = {};
  bool repeats = false;  ///< every output holds the bits of CaseMode::earlier, and none is in `outputs`
};

/// What buffers hold before a launch.
struct Poison {
  std::uint32_t outputs = 0;
  std::uint32_t scratch = 0;  ///< other bits than outputs, or a result computed from stale scratch looks unwritten
  std::byte guards{};         ///< every byte around buffers; differs, so that reading there shows as other results
};
/// NaN as f32, as f16 and as bf16; no truth, and as i32 a number that results seldom have, as -1 would not be.
inline constexpr Poison k_nan_poison{0xffe5ffe5U, 0xfff5a5a5U, std::byte{0xa5}};
/// Finite and huge as f32, as bf16 and, in outputs, as f16: survives max() where a NaN would not. No bit of scratch
/// that could decide about a result is the same as in the other.
inline constexpr Poison k_finite_poison{0x7bff7bffU, 0x7f0a5a5aU, std::byte{0xff}};

/// What buffers of a plan hold, by their order; nothing for those that are to have inputs or poison.
using BufferContents = std::vector<std::vector<std::byte>>;

struct CaseMode {
  bool cold = false;
  Poison poison = k_nan_poison;
  Duration deadline{};
  bool ends_budget = false;                  ///< as StepTimeout
  const BufferContents* contents = nullptr;  ///< of outputs and scratch before the launch; null: poison
  /// Where it is not empty: by output, elements that will be looked at. Of large outputs that a device has filled with
  /// poison no others come back, and the device counts the useless ones.
  std::span<const AnswerSample> looked_at = {};
  OutputBytes* memory = nullptr;  ///< of outputs that nobody looks at any more, for the new ones where it is as large
  /// All of the outputs of another launch; null: there was none. Where they are the same, they are not copied.
  const OutputBytes* earlier = nullptr;
  /// The last launch in this process had the same plan and the same inputs, and has left them as they were.
  bool inputs_are_there = false;
};

/// Fresh inputs, poisoned outputs and scratch, guards; launch; then guards and inputs must be as they were. A process
/// that fills buffers gets what it can fill as keys and patterns (device_filling.hpp). Counts the launch in `clock`.
[[nodiscard]] tl::expected<CaseRun, CaseFailure> run_case(const Problem& problem, LoadedCandidate& loaded,
                                                          const CheckCase& one, const CaseMode& mode, StepClock& clock,
                                                          const ParallelFor& parallel = serial_for);

/// The same with another of the plans that were started, which has the buffers of that workload.
[[nodiscard]] tl::expected<CaseRun, CaseFailure> run_plan(const Problem& problem, LoadedCandidate& loaded,
                                                          std::size_t plan, const CheckCase& one, const CaseMode& mode,
                                                          StepClock& clock, const ParallelFor& parallel = serial_for);
/// With inputs that are stored already.
[[nodiscard]] tl::expected<CaseRun, CaseFailure> run_plan(const Problem& problem, LoadedCandidate& loaded,
                                                          std::size_t plan, const StoredInputs& inputs,
                                                          const CaseMode& mode, StepClock& clock,
                                                          const ParallelFor& parallel);

/// The first case of the suite on that workload; there must be one.
[[nodiscard]] const CheckCase& case_of(const CheckSuite& suite, std::size_t workload);

/// Judges the outputs of a run; appends to `accuracy` when given. Nothing when they are right.
[[nodiscard]] std::optional<CaseFailure> judge_case(const Problem& problem, const CheckCase& one, const CaseRun& run,
                                                    const CaseMode& mode, AccuracyTable* accuracy,
                                                    const ParallelFor& parallel = serial_for);

/// Starts a process with what was built and keeps it; a failure is the candidate's. Cases on workloads whose binary is
/// not among what was built must not be run in it.
[[nodiscard]] std::optional<CaseFailure> start_candidate(ExecutionBackend& backend, LoadedCandidate& loaded,
                                                         Duration deadline);

/// Records the failure as the verdict's first cause: a rejection, or "unverified" when the harness is at fault.
void reject_case(const Problem& problem, const CheckCase& one, GateId gate, const CaseFailure& failure,
                 Verdict& verdict);

}  // namespace kw
