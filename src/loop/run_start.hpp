#pragma once
// Where a run begins: a new record, or an old one with what was recorded for it.

#include <optional>
#include <vector>

#include "base/file_lock.hpp"
#include "loop/run.hpp"

namespace kw {

struct RunStart {
  RunRecord record;
  std::vector<Attempt> attempts;  ///< of a resumed run, to be replayed
  std::vector<Turn> turns;        ///< of a resumed run, or of the one that is replayed
  /// Of the built-in search and of static estimates; empty where none has a part. The record of a resumed run that kept
  /// no style does not name it yet.
  std::string style;
  std::optional<FileLock> lock;      ///< always there: no other process goes on with the run while it is held
  std::vector<Attempt> past;         ///< verified by ended runs on this problem and device, oldest first: exemplars
  std::vector<std::string> lessons;  ///< what models learnt in such runs, oldest first
};

/// `device` is the calibrated one. Damaged runs are passed over, in resuming and in learning from others, with one
/// warning to the observer. errc::run_in_progress when another process has the run; errc::resume_nothing when there is
/// no run to go on with, errc::resume_mismatch when it was made with another proposer or style; errc::archive_no_run
/// when there is none to replay, errc::resume_mismatch when no model took part in it.
[[nodiscard]] Result<RunStart> start_run(const RunSetup& setup, const DeviceFacts& device, RunServices& services);

/// What a run that tunes one bundle begins with. A resumed one goes on with the bundle that it began with: rows may
/// have been written into the file since. errc::resume_mismatch for another source.
[[nodiscard]] Result<Candidate> start_of_tuning(const RunSetup& setup, const RunRecord& record,
                                                const std::vector<Attempt>& attempts);

/// What the parts of a run used that ended before: attempts, and requests to models, those without an answer too.
[[nodiscard]] BudgetUse used_before(const RunSetup& setup, const RunRecord& record,
                                    const std::vector<Attempt>& attempts, const std::vector<Turn>& turns);

}  // namespace kw
