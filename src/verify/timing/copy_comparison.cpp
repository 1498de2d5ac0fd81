#include "verify/timing/copy_comparison.hpp"

#include <cstdint>
#include <utility>
#include <variant>

#include "record/peak_times.hpp"
#include "record/time_use.hpp"
#include "verify/timing/calibrate.hpp"
#include "verify/timing/calibration_process.hpp"
#include "verify/timing/timing.hpp"

namespace kw {

bool compares_with_copy(const DeviceFacts& device, const WorkloadCost& work) {
  return needs_calibration(device) && waits_for_memory(device, work);
}

CopyComparison::CopyComparison(const RunFacts& facts, const MeasureState& measuring, StepClock& clock, bool is_wanted)
    : facts_(facts), measuring_(measuring), clock_(clock), kernel_bytes_(facts.costs().primary().bytes) {
  const DeviceFacts& device = measuring.device;
  if (!is_wanted) return;
  const auto building = clock.doing(time_activity::peaks);
  auto copy = copy_kernel(device, static_cast<std::int64_t>(kernel_bytes_ / 2));
  if (!copy) return;
  auto binary = build_calibration(facts.backend, *copy);
  if (!binary) return;
  copy_ = *std::move(copy);
  binary_ = *std::move(binary);
}

void CopyComparison::start() {
  process_.reset();
  if (!copy_) return;
  const auto starting = clock_.doing(time_activity::starting);
  if (auto started = start_calibration(facts_.backend, *copy_, binary_)) process_ = *std::move(started);
}

void CopyComparison::follow(double kernel_ns) {
  if (!process_ || !(kernel_ns > 0)) return;
  const auto launching = clock_.doing(time_activity::launches);
  const auto launched = process_->launch(true, k_calibration_deadline);
  const auto* outcome = std::get_if<LaunchOutcome>(&launched);
  if (outcome == nullptr) return process_.reset();
  clock_.add_device_seconds(static_cast<double>(outcome->observed_ns) * 1e-9);
  const double copy_ns = launch_ns(facts_, measuring_.baseline, *outcome);
  shares_.push_back(kernel_bytes_ / kernel_ns / (copy_->bytes / copy_ns));
}

std::optional<BesideCopy> CopyComparison::result(Rng& rng) const {
  if (shares_.empty()) return std::nullopt;
  const Measurement shares = summarise(shares_, rng);  // of shares, not of times: its rule for median and interval
  return BesideCopy{shares.median_ns, shares.ci_ns, shares.samples};
}

}  // namespace kw
