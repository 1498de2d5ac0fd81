#pragma once
// A sweep times many candidates of one style's space and keeps what it found in a table (record/sweep_table.hpp). No
// proposer learns from it and nothing is archived: it is for who wants to know a space, to train a model of it, or to
// compare ways of searching it. Candidates pass the verifier of a search: built, checked on the least evidence, timed
// against the table's reference, its first candidate that was right, in interleaved launches. One that beats it
// and all before is checked on everything. The reference stays: were each winner the next one, every ratio would carry
// the errors of all before it, and on a busy machine the winners are those that erred most.

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "base/file_system.hpp"
#include "base/parallel.hpp"
#include "base/time_ledger.hpp"
#include "problem/problem.hpp"
#include "propose/search/restricted_style.hpp"
#include "record/run_record.hpp"
#include "record/sweep_table.hpp"
#include "verify/processes/execution_backend.hpp"

namespace kw {

namespace errc {
inline constexpr ErrorCode sweep_other{"sweep.other"};      ///< the file holds a table of something else
inline constexpr ErrorCode sweep_untimed{"sweep.untimed"};  ///< a simulator has no times
}  // namespace errc

/// What the person watching is told. Called from the thread of run_sweep.
class SweepObserver {
 public:
  virtual ~SweepObserver() = default;
  virtual void phase(const std::string& doing) = 0;
  /// After `row` was added to `table`.
  virtual void row(const SweepTable& table, const SweepRow& row) = 0;
};

struct SweepSetup {
  Problem problem;
  std::string target;
  std::string style;                  ///< empty: the fastest that writes the problem for the device
  std::uint64_t seed = 1;             ///< of the order of the random candidates
  AllowedValues allowed;              ///< a part of the space; empty: all of it
  std::optional<std::int64_t> count;  ///< rows the table is to have; absent: the whole space
  BudgetLimits limits;                ///< of this part of the table
  int in_flight = 2;                  ///< candidates at once: as many as may be built at the same time
  std::filesystem::path file;         ///< of the table; one that is there is continued
  std::string version;
  std::string started_utc;
  std::vector<std::pair<std::string, std::string>> environment;
};

struct SweepServices {
  ExecutionBackend& backend;
  FileSystem& files;
  const Clock& clock;
  SweepObserver& observer;
  const std::atomic<bool>& stop;  ///< the candidate in flight is the last one
  TimeLedger& ledger;             ///< of the calling thread: takes down what the time goes to
  ParallelFor parallel;
  RunBeside beside = serial_beside;
  StartWork start = start_later;
};

/// The table as it stands in setup.file, which is written every few seconds and at the end: a sweep that was killed
/// loses those. Ends with the count, the space, the budget or `stop`. Candidates that were left undecided are tried
/// again when the table is continued. Errors: errc::sweep_other, errc::sweep_untimed, errc::codegen_style and
/// codegen_unsupported, errc::restricted_values, those of parse_sweep, of opening a verifier and of restoring its
/// champion.
[[nodiscard]] Result<SweepTable> run_sweep(const SweepSetup& setup, SweepServices& services);

}  // namespace kw
