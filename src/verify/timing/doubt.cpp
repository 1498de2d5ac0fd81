#include "verify/timing/doubt.hpp"

#include <algorithm>

#include "record/time_use.hpp"
#include "verify/timing/calibrate.hpp"

namespace kw {
namespace {

/// The measured peaks are themselves measurements: only a time well below the bound is called impossible.
constexpr double k_roofline_slack = 0.8;
/// How often the peaks are measured again, a second or two each, before a time is called impossible: a virtual machine
/// was seen to run at 60 % of its speed for seconds.
constexpr int k_looks_at_peaks = 5;
/// The host's clock around a request contains the launch: the claim may be shorter by what a request costs, measured on
/// a process we trust, not by much more.
constexpr double k_clock_slack = 0.7;
constexpr double k_request_slack = 2.0;
/// Before a claim is called a lie. One launch each in turn: a busy moment that hit five in a row of the candidate and
/// none of the plain kernel made an honest kernel a liar (seen once in 45,000 verifications, at a load of 12 on two
/// cores).
constexpr int k_second_looks = 15;

/// What the host saw of launches and of requests around them, on the machine as busy as it is.
struct HostView {
  double least_ns = 0;    ///< of the candidate, request and all
  double request_ns = 0;  ///< what requests to a trusted process took beyond the launch, at worst
  [[nodiscard]] bool contradicts(double claimed_ns) const {
    return claimed_ns < k_clock_slack * least_ns - k_request_slack * request_ns;
  }
};

/// One more launch of the candidate and of the plain kernel, side by side.
void look_again(const TimingContext& timing, MeasureState& measuring, LoadedCandidate& candidate, HostView& view) {
  const auto again = time_alone(timing, candidate, 1);
  const auto plain = time_alone(timing, measuring.baseline.loaded, 1);
  if (!again || !plain) return;
  for (const double observed_ns : again->observed_ns) view.least_ns = std::min(view.least_ns, observed_ns);
  for (std::size_t i = 0; i < plain->claimed_ns.size(); ++i) {
    view.request_ns = std::max(view.request_ns, plain->observed_ns[i] - plain->claimed_ns[i]);
  }
}

/// Whether the least disturbed launch took longer than was claimed and a request costs. A busy machine may make every
/// launch of a moment look so, and a lie looks so at any moment.
bool contradicts_clock(const TimingContext& timing, MeasureState& measuring, LoadedCandidate& candidate,
                       const TimingResult& timed, double claimed_ns) {
  HostView view{*std::min_element(timed.observed_ns.begin(), timed.observed_ns.end()),
                std::max(measuring.baseline.request_ns, timed.other_request_ns)};
  for (int i = 0; i < k_second_looks && view.contradicts(claimed_ns) && !timing.clock.out_of_time(); ++i) {
    look_again(timing, measuring, candidate, view);
  }
  return view.contradicts(claimed_ns);
}

/// The bound that the time is below; nothing when it is not, or when there is none.
std::optional<double> broken_bound(const TimingContext& timing, const MeasureState& measuring, double median_ns) {
  const auto bound = measuring.roofline_ns(timing.facts);
  return bound && median_ns < k_roofline_slack * *bound ? bound : std::nullopt;
}

/// Peaks that were measured while the machine was busy make honest kernels look impossible (seen during a build).
void measure_peaks_again(const RunFacts& facts, DeviceFacts& device) {
  const auto again = calibrate(facts.backend);
  if (!again) return;
  device.peak_f32_flops = std::max(device.peak_f32_flops, again->peak_f32_flops);
  device.peak_bytes = std::max(device.peak_bytes, again->peak_bytes);
}

}  // namespace

std::optional<TimingDoubt> doubt_about(const TimingContext& timing, MeasureState& measuring, LoadedCandidate& candidate,
                                       const TimingResult& timed, double median_ns) {
  const auto doubting = timing.clock.doing(time_activity::doubt);
  for (int i = 0; i < k_looks_at_peaks && broken_bound(timing, measuring, median_ns) && !timing.clock.out_of_time();
       ++i) {
    measure_peaks_again(timing.facts, measuring.device);
  }
  if (const auto bound = broken_bound(timing, measuring, median_ns)) {
    return TimingDoubt{
        Reason::above_roofline,
        fmt::format("{:.0f} ns is less than the {:.0f} ns that the device's measured peaks allow", median_ns, *bound)};
  }
  const double claimed_ns = median(timed.claimed_ns);
  if (!contradicts_clock(timing, measuring, candidate, timed, claimed_ns)) return std::nullopt;
  return TimingDoubt{Reason::clock_mismatch,
                     fmt::format("the process claims {:.0f} ns per launch, the host's clock saw {:.0f} ns", claimed_ns,
                                 median(timed.observed_ns))};
}

}  // namespace kw
