#pragma once
// The peaks of the device of a run: known to the caller, read from the file beside the archive, or measured; and kept
// for the next run. For the loop.

#include <chrono>
#include <string>

#include "base/time_ledger.hpp"
#include "loop/peak_file.hpp"
#include "loop/run.hpp"

namespace kw {

class DevicePeaks {
 public:
  /// All must outlive it.
  DevicePeaks(const RunSetup& setup, RunServices& services)
      : setup_(setup), services_(services), file_(services.files, setup.root) {}

  /// The backend's device with its peaks. Those that the file knows are measured again after thirty days; a device that
  /// it does not know is measured briefly.
  [[nodiscard]] Result<DeviceFacts> measure(TimeLedger& ledger);
  /// For the next run, where they were measured and not told by the driver. A convenience: its failure is a warning.
  void keep(const DeviceFacts& device) const;
  /// Where they were measured briefly, by this run or an earlier one, and enough time is left before `deadline`: in
  /// full, for the runs to come. This one has ended, and has judged by those it has. Keeps the highest of both.
  void complete(DeviceFacts device, Instant deadline);

 private:
  [[nodiscard]] std::string today() const { return setup_.started_utc.substr(0, 10); }

  const RunSetup& setup_;
  RunServices& services_;
  const PeakFile file_;
  std::string date_;  ///< of the last measurement
  bool brief_ = false;
  Duration brief_took_ = std::chrono::seconds(2);  ///< or of an earlier run, about as long
};

}  // namespace kw
