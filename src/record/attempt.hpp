#pragma once
// Measurement and Attempt: what a run appends to its archive for every candidate.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "record/access_counts.hpp"
#include "record/bundle.hpp"
#include "record/instruction_mix.hpp"
#include "record/verdict.hpp"

namespace kw {

/// An interval around an estimate, at the stated confidence.
struct Interval {
  double low = 0;
  double high = 0;
  double confidence = 0.95;
};

/// "Faster" is a decision with a stated confidence. Stored in archives: never renumber.
enum class Comparison : std::uint8_t { faster = 1, slower = 2, equivalent = 3, undecided = 4, unreliable = 5 };
[[nodiscard]] std::string_view to_string(Comparison comparison);

/// The result of interleaved timing against another kernel (the incumbent, or a baseline).
struct Versus {
  std::string name;  ///< "incumbent", or a baseline's name
  Comparison decision = Comparison::undecided;
  double speedup = 1;  ///< time of the other / time of this one: above 1 means this one is faster
  Interval speedup_ci;
  std::int64_t pairs = 0;
  std::int64_t discarded_pairs = 0;
};

/// Why warps waited, by a profiler's name for it, and the share of all samples of warps, 0 to 1.
struct StallReason {
  std::string name;
  double share = 0;
};

/// A class of machine instructions, by a profiler's name for it ("integer", "fp32", "memory"), and its share of all
/// that threads executed, 0 to 1.
struct InstructionShare {
  std::string name;
  double share = 0;
};

/// What a profiler counted in one launch of the primary workload with cold caches, of the kernel that took longest. In
/// another process than the one that was timed, and with the launch replayed for each group of counters. Shares are 0
/// to 1; absent figures were not counted on this device.
struct HardwareCounters {
  std::string tool;  ///< with its version
  std::string kernel;
  std::optional<double> duration_ns;
  std::optional<double> dram_read_bytes, dram_write_bytes;
  std::optional<double> dram_peak_share;     ///< bytes per second over the memory's peak
  std::optional<double> l2_hit_share;        ///< of sectors asked for
  std::optional<double> tensor_pipe_share;   ///< cycles in which the tensor cores were busy
  std::optional<double> achieved_occupancy;  ///< resident warps over the most there can be, while a unit was busy
  std::optional<double> issue_share;         ///< cycles in which a scheduler issued an instruction
  std::optional<std::int64_t> registers_per_thread;
  std::vector<StallReason> stalls;               ///< the most frequent first, at most k_most_stall_reasons
  std::vector<InstructionShare> instructions;    ///< the most frequent first, at most k_most_instruction_classes
  std::optional<double> sectors_per_load;        ///< of global memory, 32 bytes each, for one request of a warp
  std::optional<double> bank_conflict_share;     ///< of the passes over shared memory, those that conflicts added
  std::optional<double> divergent_branch_share;  ///< of executed branches, those at which a warp's threads part
};
inline constexpr std::size_t k_most_stall_reasons = 3;
inline constexpr std::size_t k_most_instruction_classes = 6;

/// A kernel's bytes per second over those of a copy to other memory, each launched in turn with the other.
struct BesideCopy {
  double share = 0;  ///< median over the pairs of launches; above 1 is possible, as where more is read than written
  Interval ci;       ///< of the median
  std::int64_t pairs = 0;
};

/// Times of one candidate on the primary workload, cold cache, fresh data per launch.
struct Measurement {
  double median_ns = 0;
  Interval ci_ns;  ///< of the median
  std::int64_t samples = 0;
  bool stopped_early = false;  ///< clearly slower than the incumbent: fewer samples, no claim beyond that
  std::vector<Versus> versus;
  double gflops = 0;                         ///< useful FLOPs / median
  std::optional<double> roofline_fraction;   ///< of the bound at the device's measured peaks; absent without peaks
  std::optional<BesideCopy> beside_copy;     ///< of a run's best, where it waits for memory and that was measured
  std::optional<HardwareCounters> counters;  ///< absent where no profiler ran
};

/// What the compiler reported; absent values were not reported.
struct BuildReport {
  std::string log;  ///< at most 64 KiB, first errors kept
  double build_ms = 0;
  std::int64_t binary_bytes = 0;
  Hash binary_hash;
  std::optional<std::int64_t> registers, spill_bytes, stack_bytes, shared_bytes;  ///< the most of any kernel
  std::optional<std::int64_t> tensor_core_instructions;                           ///< of all kernels together
  std::optional<std::int64_t> local_memory_instructions;                          ///< of all kernels together
  std::optional<double> occupancy;  ///< least over the kernels: resident threads over what a multiprocessor holds
  /// Of the build for the primary workload, one for each kernel in order of name. Empty where the machine code cannot
  /// be read: on GPUs, and on processors that are no x86-64.
  std::vector<InstructionMix> machine_code;
};

/// Error of a kernel on one workload and distribution against the oracle, and what was allowed.
struct AccuracyRow {
  std::string workload;  ///< name; sizes of held-out workloads are not repeated
  std::string distribution;
  double max_error = 0;  ///< units: docs/measuring.md
  double allowed = 0;
};

/// The place of a candidate in its proposer's history, in the proposer's own numbers. The loop archives it and does not
/// look at it.
struct Provenance {
  std::optional<std::int64_t> turn;   ///< ordinal of the recorded exchange (record/turn.hpp) that gave it
  std::optional<std::int64_t> chain;  ///< line of descent it belongs to: who wrote it, or whose kernel it tunes
};

/// One candidate's way through the gates.
struct Attempt {
  std::int64_t ordinal = 0;  ///< 0, 1, 2, ... within the run
  std::string proposer;      ///< "search"
  std::string origin;        ///< why it was proposed: "analytic seed", "neighbour of 12", "archive seed"
  Provenance provenance;
  Candidate candidate;
  Verdict verdict;
  BuildReport build;
  /// As far as cases were judged, in their order, one row per output and the failing one among them. Absent in attempts
  /// of archives before version 3.
  std::optional<std::vector<AccuracyRow>> accuracy;
  std::optional<Measurement> measurement;
  std::optional<SimulatedAccesses> accesses;  ///< absent where no simulator counted them
  double device_seconds = 0;                  ///< device time this attempt used
  double wall_seconds = 0;                    ///< budget wall clock used by this attempt
  double elapsed_seconds = 0;                 ///< budget wall clock at its end, over all parts of a resumed run
  bool became_best = false;
};

}  // namespace kw
