#pragma once
// One run: the closed loop of proposer and verifier under a budget, with everything appended to the archive as it
// happens. A run that was killed is resumed by replay: the proposer is deterministic for its seed and what it observed,
// so feeding it the archived attempts brings it back to where it was.

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "archive/archive.hpp"
#include "base/clock.hpp"
#include "base/file_system.hpp"
#include "base/parallel.hpp"
#include "language/language.hpp"
#include "loop/budget.hpp"
#include "loop/llm_driver.hpp"
#include "loop/run_directory.hpp"
#include "problem/problem.hpp"
#include "propose/proposer.hpp"
#include "record/run_record.hpp"
#include "verify/processes/execution_backend.hpp"
#include "verify/state/options.hpp"

namespace kw {

namespace errc {
inline constexpr ErrorCode resume_nothing{"run.resume_nothing"};    ///< no run to go on with
inline constexpr ErrorCode resume_mismatch{"run.resume_mismatch"};  ///< the archived attempts are not this version's
inline constexpr ErrorCode run_in_progress{"run.in_progress"};      ///< another process carries out this run
}  // namespace errc

/// What the person watching is told while a run goes on. Called from the loop's thread.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  /// A step that takes a while begins: "measuring the device's peaks".
  virtual void phase(const std::string& doing) = 0;
  virtual void attempt(const RunRecord& run, const Attempt& attempt, const BudgetUse& used) = 0;
  /// A model answered, or failed to.
  virtual void turn(const RunRecord& run, const Turn& turn, const BudgetUse& used) = 0;
  /// Something a user should know that does not stop the run.
  virtual void warning(const std::string& text) = 0;
};

struct RunSetup {
  Problem problem;
  std::string problem_input;  ///< as RunRecord has it; may be empty
  std::string target{default_language().name};
  std::string style;  ///< of the built-in search; empty: the fastest that writes the problem for the device
  std::string proposer = "search";        ///< name in the list of proposers (propose/registry.hpp)
  std::optional<Candidate> start;         ///< for proposers that need one, which have no style then
  std::optional<ModelSetup> model;        ///< for proposers that ask one
  std::string replay;                     ///< id of a run whose replies are given again instead of asking its model
  std::vector<Requirement> requirements;  ///< what the static gate demands besides the device's limits
  std::uint64_t seed = 1;
  BudgetLimits limits;
  /// Of the device, with its peaks as an earlier run of this process measured them; absent: they are measured.
  std::optional<DeviceFacts> calibrated;
  /// How many candidates are on their way at once: one is built while another is checked. A run with a model, whose
  /// prompts show what became of the last candidate, keeps one, and so does a simulator. A resumed run goes on as it
  /// began.
  int in_flight = 2;
  std::filesystem::path root = "kw-runs";
  bool resume = false;  ///< go on with the newest run of this problem, target and device in the archive
  std::string version;
  std::string started_utc;
  std::vector<std::pair<std::string, std::string>> environment;
};

struct RunServices {
  ExecutionBackend& backend;
  Archive& archive;
  FileSystem& files;
  const Clock& clock;
  RunObserver& observer;
  const std::atomic<bool>& stop;  ///< set by Ctrl-C: finish the attempt in flight, then end cleanly
  ParallelFor parallel;
  VerifierTools tools = {};
  RunBeside beside = serial_beside;
  StartWork start = start_later;
  /// The share of the last seconds in which something waited for a processor, as waiting_share(); null: nobody knows.
  std::function<std::optional<double>()> interference = nullptr;
  /// When the budget began, where that was before the backend was opened.
  std::optional<Instant> began = {};
};

/// The finished record; best kernel and report files are in RunDirectory(setup.root, record.id). An error means the run
/// could not start, or could not go on (errc::disk_full); what was found before is then in the archive and best file.
[[nodiscard]] Result<RunRecord> run_loop(const RunSetup& setup, RunServices& services);

}  // namespace kw
