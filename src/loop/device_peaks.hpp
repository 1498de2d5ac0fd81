#pragma once
// The peaks of the device of a run: known to the caller, read from the file beside the archive, or measured; and kept
// for the next run. For the loop.

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

  /// The backend's device with its peaks. Those that the file knows of today are not measured again.
  [[nodiscard]] Result<DeviceFacts> measure(TimeLedger& ledger) const;
  /// For the next run, where they were measured and not told by the driver. A convenience: its failure is a warning.
  void keep(const DeviceFacts& device) const;

 private:
  [[nodiscard]] std::string today() const { return setup_.started_utc.substr(0, 10); }

  const RunSetup& setup_;
  RunServices& services_;
  const PeakFile file_;
};

}  // namespace kw
