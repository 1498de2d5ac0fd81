#pragma once
// One run: what was asked, under which conditions, what came out. Together with its attempts it is all a report needs.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hardware/device_facts.hpp"
#include "problem/source.hpp"
#include "record/attempt.hpp"
#include "record/time_use.hpp"

namespace kw {

/// One budget, whichever part ends first; absent parts do not limit.
struct BudgetLimits {
  std::optional<double> wall_seconds;
  std::optional<std::int64_t> candidates;
  std::optional<double> device_seconds;
  std::optional<std::int64_t> tokens;
  std::optional<double> dollars;
};
struct BudgetUse {
  double wall_seconds = 0;
  std::int64_t candidates = 0;
  double device_seconds = 0;
  std::int64_t tokens = 0;
  double dollars = 0;
};

/// Stored in archives: never renumber.
enum class RunStatus : std::uint8_t {
  running = 1,      ///< or killed: a run that is not running and says so can be resumed
  finished = 2,     ///< the budget ended
  exhausted = 3,    ///< the proposer had nothing left
  interrupted = 4,  ///< Ctrl-C; can be resumed
  failed = 5,       ///< `failure` says why; can be resumed once that is fixed
};
[[nodiscard]] std::string_view to_string(RunStatus status);

struct BaselineRecord {
  std::string name;  ///< "plain"
  double median_ns = 0;
  Interval ci_ns;
};

/// Which model took part in a run, and what it cost. Never holds a key.
struct ModelUse {
  std::string provider;  ///< preset: "deepseek"
  std::string base_url;  ///< without user, password or query
  std::string model;     ///< as asked for
  std::int64_t chains = 1;
  std::int64_t samples = 1;              ///< per turn of a chain
  std::string exemplars;                 ///< "bucket"
  std::optional<std::string> judge;      ///< the model that is asked about each kernel; absent: none
  std::optional<std::string> effort;     ///< how long the model was told to think; absent: as the provider does
  std::vector<std::string> constraints;  ///< in words, and those that are checked
  std::string prices;                    ///< where the dollars come from: the table and its date; empty: unknown
  std::int64_t turns = 0;
  std::int64_t faulty_turns = 0;  ///< those that gave no candidate
  std::int64_t prompt_tokens = 0;
  std::int64_t completion_tokens = 0;  ///< with reasoning
  std::optional<double> dollars;       ///< absent where the model's price is not known
  /// Requests that were sent, and the tokens of their prompts by an estimate: written down before a request goes out,
  /// so that a killed run has them. What is more than the turns was open when the run ended. Absent where no request is
  /// sent, as in a replay, and in runs of earlier versions.
  std::optional<std::int64_t> requests;
  std::optional<std::int64_t> request_tokens;
  std::optional<std::int64_t> answered_tokens;  ///< by the same estimate, of the turns' prompts
  /// The part of the wall clock's budget that was left for the model when it was first asked, by the last part of a
  /// resumed run. Absent without a limit on the wall clock, and in runs of earlier versions.
  std::optional<double> budget_share;
};

/// Requests without an answer: given up when the run ended or was stopped, or out when it was killed.
struct OpenRequests {
  std::int64_t count = 0;
  std::int64_t tokens = 0;  ///< of their prompts, by an estimate
};
[[nodiscard]] OpenRequests open_requests(const ModelUse& use);

struct RunRecord {
  std::string id;            ///< 16 hexadecimal digits
  std::string started_utc;   ///< "2026-11-20T09:00:00Z"
  std::string version;       ///< of kernelwright
  std::string problem;       ///< name
  std::string problem_text;  ///< canonical text
  std::string mod_text;      ///< the mods as the user wrote them; empty when there are none
  /// How the command line named the problem, for a shell: "attention/alibi --set Sq=2048". Absent where nobody did.
  std::optional<std::string> problem_input;
  /// What the problem can be read again from. Absent in runs of archives before version 3, and of problems made by
  /// hand.
  std::optional<ProblemSource> problem_source;
  std::string op;
  std::string target;
  std::string proposer;  ///< name in the list of proposers: "search"
  /// Of the built-in search, and of the estimates that rank kernels where nothing is timed. Absent where no style has a
  /// part in the run, and in runs of archives before version 3.
  std::optional<std::string> style;
  std::optional<ModelUse> model_use;
  std::uint64_t seed = 0;
  /// How far ahead of the attempts it had seen its proposer was asked, which a replay has to do again. Absent: one.
  std::optional<std::int64_t> candidates_in_flight;
  std::vector<Candidate> archive_seeds;  ///< kernels of earlier runs the search started from; kept so that a resumed
                                         ///< run starts from the same
  DeviceFacts device;
  BudgetLimits limits;
  BudgetUse used;
  /// Of all parts of a run that was resumed, as far as they were recorded: a killed part is recorded up to its last
  /// best kernel. Empty in runs of archives before version 3.
  std::vector<TimeUse> time_uses;
  /// Builds that ran beside checks, in seconds of their thread; none of the above.
  std::optional<double> beside_seconds;
  /// Builds that were not made again: kept by an earlier run, or earlier in this one. Absent: none.
  std::optional<std::int64_t> found_builds;
  RunStatus status = RunStatus::running;
  std::string failure;

  std::string sandbox_tier;
  std::vector<std::string> workloads;  ///< names, in the order they are checked
  std::vector<std::string> distributions;
  /// Pairs of workload and distribution that were not checked, because all of them take too long on a simulator.
  std::optional<std::int64_t> cases_left_out;
  /// Where the oracle answers large workloads in some rows alone, and the plain kernel the rest: how many rows.
  std::optional<std::int64_t> sampled_rows;
  std::vector<std::string> sanitizers;  ///< empty: none ran
  std::vector<std::pair<std::string, std::string>>
      environment;  ///< name, value: cpu, kernel, load, driver, scrubbed variables

  double useful_flops = 0;  ///< of the primary workload
  double useful_bytes = 0;
  std::vector<BaselineRecord> baselines;
  std::optional<std::int64_t> best_ordinal;
  std::string best_path;                  ///< of the bundle file
  std::optional<Measurement> best_final;  ///< champion re-measured in fresh processes, versus each baseline
  std::vector<AccuracyRow> best_accuracy;
};

}  // namespace kw
