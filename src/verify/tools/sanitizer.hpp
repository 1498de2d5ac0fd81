#pragma once
// A tool that runs a kernel once more and reports what it does wrong that need not show in its result: accesses outside
// buffers, races, divergent barriers. The sanitize gate (gates/sanitize_gate.cpp) chooses what it runs on and
// rejects; here is what the tools have in common. Three of them: Oclgrind for OpenCL, and for CUDA compute-sanitizer on
// the GPU or, where that is missing, the simulator.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "verify/checking/case_runner.hpp"
#include "verify/checking/plan_slice.hpp"
#include "verify/processes/execution_backend.hpp"
#include "verify/processes/loaded_candidate.hpp"
#include "verify/processes/step_clock.hpp"
#include "verify/state/run_facts.hpp"

namespace kw {

struct SanitizerFinding {
  std::string text;            ///< on one line
  bool uninitialised = false;  ///< about a value that nobody wrote
};

/// What may be said of it where the workload is held out: kind and lines of the source, at most two, as in "a sanitizer
/// finding: a data race, line 3 and line 5". The kind is one of a few words of ours: a kernel that writes into the
/// tool's report cannot say a size by it.
[[nodiscard]] std::string summary_of(const SanitizerFinding& finding);

/// What came of one workload.
struct Sanitized {
  std::size_t workload = 0;
  std::optional<SanitizerFinding> finding;
  std::string note;      ///< what was looked for, or why it was not; unused with a finding
  bool checked = false;  ///< at least one check came to its end
  Duration took{};       ///< of its launch under the tool; zero where that says nothing of the tool's speed
  std::optional<std::size_t> slice = {};  ///< index into SanitizerWork::slices; nothing: it was a whole workload
};

/// Some groups of one launch of the primary workload, to be watched by themselves.
struct WatchedSlice {
  LaunchSlice slice;
  BufferContents before;  ///< of outputs and scratch; empty where they hold poison
};

/// What a tool is to watch.
struct SanitizerWork {
  std::vector<std::size_t> workloads;  ///< indices of those that it runs whole
  std::vector<WatchedSlice> slices;    ///< of the primary workload's launches
};

/// Workloads worth a tool's time, in useful operations: the largest that has no more than `enough`, and none above
/// `most`.
struct SanitizerReach {
  double enough_flops = 0;
  double most_flops = 0;
  double slice_flops = 0;        ///< in some groups of a larger primary workload, all launches together
  std::int64_t slice_bytes = 0;  ///< of that workload's buffers together: they stay whole, however few groups there are
  SliceKind slice_kind = SliceKind::boxes;
  /// What the tool gets through: a budget that is short is spent on smaller workloads.
  double flops_per_second = std::numeric_limits<double>::infinity();
  /// To start it is what takes long: whole workloads and slices go into one run.
  bool at_once = false;
  std::int64_t whole_bytes = std::numeric_limits<std::int64_t>::max();  ///< of the buffers of one that is run whole
};

class Sanitizer {
 public:
  virtual ~Sanitizer() = default;
  /// With its version, for people and records.
  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual SanitizerReach reach() const = 0;
  /// The candidate, which was built and has passed its checks, on these workloads, and on groups of the primary
  /// workload's launches (reach().slice_kind), each from what its buffers hold before it; in turn, until something is
  /// found. Launches are counted in `clock`. One entry for each that was begun.
  virtual std::vector<Sanitized> run(const RunFacts& facts, const LoadedCandidate& loaded, const SanitizerWork& work,
                                     StepClock& clock) = 0;
  /// Where this simulates a GPU: the simulator, which can count what the candidate's warps ask of memory.
  [[nodiscard]] virtual ExecutionBackend* counting_simulator() { return nullptr; }
};

/// Oclgrind or the CUDA simulator: a device like any other, on which the candidate is built anew.
[[nodiscard]] std::unique_ptr<Sanitizer> simulating_sanitizer(std::unique_ptr<ExecutionBackend> simulator);

}  // namespace kw
