#include "loop/device_peaks.hpp"

#include "record/time_use.hpp"
#include "verify/timing/calibrate.hpp"

namespace kw {

Result<DeviceFacts> DevicePeaks::measure(TimeLedger& ledger) const {
  DeviceFacts device = services_.backend.device();
  if (setup_.calibrated && setup_.calibrated->id == device.id) return *setup_.calibrated;
  const auto measuring = TimeLedger::activity(&ledger, time_activity::peaks);
  const auto known = file_.find(device);
  if (!known || known->date != today()) {
    services_.observer.phase("measuring the device's peaks");
    KW_TRY(device, calibrate(services_.backend));
  }
  if (known) raise_peaks(device, *known);
  return device;
}

void DevicePeaks::keep(const DeviceFacts& device) const {
  const bool told = services_.backend.device().peak_f32_flops > 0;
  if (told || !(device.peak_f32_flops > 0) || !(device.peak_bytes > 0)) return;
  if (const auto kept = file_.keep(device, today()); !kept) {
    services_.observer.warning(kept.error().to_string());
  }
}

}  // namespace kw
