#pragma once
// Many problems, one after another on each device, each through the same loop as `optimize`. The state is written after
// every change, so that a suite which ends at any instant goes on with the problem it was at. What goes wrong with one
// problem is its row; an error of the suite itself is a disk or an archive that takes no more.

#include <atomic>
#include <functional>
#include <span>
#include <string>

#include "archive/archive.hpp"
#include "base/clock.hpp"
#include "base/file_system.hpp"
#include "base/parallel.hpp"
#include "loop/run.hpp"
#include "suite/suite_directory.hpp"
#include "suite/suite_state.hpp"

namespace kw {

/// What a row's file is as a problem.
struct SuiteProblem {
  Problem problem;
  std::string problem_input;  ///< as RunRecord has it
  std::vector<std::string> remarks = {};
  bool is_smaller = false;  ///< than its file says
};

/// A device that problems are run on, by one thread.
class SuiteDevice {
 public:
  SuiteDevice() = default;
  SuiteDevice(const SuiteDevice&) = delete;
  SuiteDevice& operator=(const SuiteDevice&) = delete;
  virtual ~SuiteDevice() = default;
  [[nodiscard]] virtual std::string id() const = 0;
  /// Of this thread alone; all devices share its file.
  [[nodiscard]] virtual Archive& archive() = 0;
  virtual Result<RunRecord> run(const RunSetup& setup, RunObserver& observer) = 0;
  virtual KernelBenchVerdict judge_as_kernelbench(const Problem& problem) = 0;
};

/// Who watches; called by one thread at a time.
class SuiteObserver {
 public:
  virtual ~SuiteObserver() = default;
  virtual void begun(const SuiteState& state, const SuiteRow& row) = 0;
  /// A step of the row's run that takes a while begins.
  virtual void phase(const SuiteRow& row, const std::string& doing) = 0;
  /// A candidate of the row's run came back.
  virtual void attempt(const SuiteRow& row, const RunRecord& run, const Attempt& attempt, const BudgetUse& used) = 0;
  virtual void ended(const SuiteState& state, const SuiteRow& row) = 0;
  virtual void warning(const SuiteRow& row, const std::string& text) = 0;
};

struct SuiteServices {
  std::function<Result<SuiteProblem>(const SuiteRow& row)> read;
  /// What all setups have in common: version, start, environment.
  RunSetup common;
  std::span<SuiteDevice* const> devices;
  FileSystem& files;
  const Clock& clock;
  SuiteObserver& observer;
  const std::atomic<bool>& stop;  ///< set by Ctrl-C: the runs end as runs do, and no other begins
  ParallelFor parallel;           ///< a thread for each device
};

/// Carries out what is left of `state`, whose budgets can be parsed. Afterwards every row is over but for what the
/// budget or Ctrl-C left. Errors: what writing the state gives, and errc::disk_full and errc::archive_* of a run.
[[nodiscard]] Result<SuiteState> run_suite(SuiteState state, const SuiteDirectory& directory, SuiteServices& services);

}  // namespace kw
