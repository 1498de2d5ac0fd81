#include "loop/device_peaks.hpp"

#include <algorithm>

#include "record/time_use.hpp"
#include "verify/timing/calibrate.hpp"

namespace kw {

Result<DeviceFacts> DevicePeaks::measure(TimeLedger& ledger) {
  DeviceFacts device = services_.backend.device();
  const auto known = file_.find(device);
  date_ = known ? known->date : today();
  brief_ = needs_calibration(device) && known && known->brief;
  if (setup_.calibrated && setup_.calibrated->id == device.id) return *setup_.calibrated;
  const auto measuring = TimeLedger::activity(&ledger, time_activity::peaks);
  if (!known || !are_recent(known->date, today())) {
    services_.observer.phase("measuring the device's peaks");
    brief_ = needs_calibration(device) && !known;
    const auto effort = brief_ ? CalibrationEffort::brief : CalibrationEffort::full;
    const Instant began = services_.clock.now();
    KW_TRY(device, calibrate(services_.backend, effort, services_.parallel));
    brief_took_ = services_.clock.now() - began;
    date_ = today();
  }
  if (known) raise_peaks(device, *known);
  return device;
}

void DevicePeaks::complete(DeviceFacts device, Instant deadline) {
  constexpr Duration k_least = std::chrono::seconds(2);
  constexpr int k_times_as_long = 3;  // five launches instead of two
  const Duration takes = std::max(k_least, k_times_as_long * brief_took_);
  if (!brief_ || services_.stop || services_.clock.now() + takes > deadline) return;
  services_.observer.phase("measuring the device's peaks in full, for later runs");
  const auto full = calibrate(services_.backend, CalibrationEffort::full, services_.parallel);
  if (!full) return services_.observer.warning(full.error().to_string());
  raise_peaks(device, {today(), full->peak_f32_flops, full->peak_bytes});
  brief_ = false;
  date_ = today();
  keep(device);
}

void DevicePeaks::keep(const DeviceFacts& device) const {
  const bool told = services_.backend.device().peak_f32_flops > 0;
  if (told || !(device.peak_f32_flops > 0) || !(device.peak_bytes > 0)) return;
  if (const auto kept = file_.keep(device, date_, brief_); !kept) {
    services_.observer.warning(kept.error().to_string());
  }
}

}  // namespace kw
