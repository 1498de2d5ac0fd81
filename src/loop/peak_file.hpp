#pragma once
// Peaks of devices as they were measured on this machine before, in one small file beside the archive: measuring them
// takes seconds of every run, and a busy moment makes them look low. What was once reached stays reached.

#include <filesystem>
#include <optional>
#include <string>

#include "base/file_system.hpp"
#include "hardware/device_facts.hpp"

namespace kw {

struct MeasuredPeaks {
  std::string date;  ///< of the last measurement, "2026-11-23"
  double f32_flops = 0;
  double bytes = 0;
  bool brief = false;  ///< of a few launches only: higher ones are still to be looked for
};

/// Whether peaks of that date serve for a run of today's: for thirty days. A date that is none, or lies ahead, is old.
[[nodiscard]] bool are_recent(const std::string& date, const std::string& today);

class PeakFile {
 public:
  /// `files` must outlive it.
  PeakFile(FileSystem& files, const std::filesystem::path& root) : files_(files), path_(root / "peaks.json") {}

  /// Of the device of that name and driver. A file that is missing or makes no sense knows nothing.
  [[nodiscard]] std::optional<MeasuredPeaks> find(const DeviceFacts& device) const;
  /// Writes the device's peaks, and those of other devices that the file knows. Those of two runs at the same time: the
  /// last one's. Errors of FileSystem::write_atomic.
  [[nodiscard]] Result<void> keep(const DeviceFacts& device, const std::string& date, bool brief) const;

 private:
  FileSystem& files_;
  std::filesystem::path path_;
};

/// The higher of each.
void raise_peaks(DeviceFacts& device, const MeasuredPeaks& known);

}  // namespace kw
