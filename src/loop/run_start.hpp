#pragma once
// Where a run begins: a new record, or an old one with what was recorded for it.

#include <vector>

#include "loop/run.hpp"

namespace kw {

struct RunStart {
  RunRecord record;
  std::vector<Attempt> attempts;  ///< of a resumed run, to be replayed
  std::vector<Turn> turns;        ///< of a resumed run, or of the one that is replayed
  std::vector<Attempt> past;      ///< verified by ended runs on this problem and device, oldest first: exemplars
};

/// `device` is the calibrated one. errc::resume_nothing when there is no run to go on with; errc::archive_no_run when
/// there is none to replay, errc::resume_mismatch when no model took part in it.
[[nodiscard]] Result<RunStart> start_run(const RunSetup& setup, const DeviceFacts& device, const Archive& archive);

}  // namespace kw
