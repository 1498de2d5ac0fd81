// Gate 6, time: interleaved with the incumbent, or alone while there is none. Faster than the device can be, or a claim
// the host's clock contradicts, is a rejection, not a record.

#include <algorithm>

#include "verify/calibrate.hpp"
#include "verify/gates/gate.hpp"
#include "verify/timing.hpp"

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
constexpr int k_solo_samples = 10;
/// Before a claim is called a lie. One launch each in turn: a busy moment that hit five in a row of the candidate and
/// none of the plain kernel made an honest kernel a liar (seen once in 45,000 verifications, at a load of 12 on two
/// cores).
constexpr int k_second_looks = 15;

bool reject_timing(Session& session, Trial& trial, const TimingFailure& why) {
  const CheckCase& one = session.suite.cases()[why.case_index];
  if (why.candidate_at_fault) {
    reject_case(session, one, GateId::time, why.failure, trial.verdict);
  } else {
    trial.verdict.cannot_decide(GateId::time,
                                "the incumbent failed while being timed against: " + why.failure.sentence);
  }
  return false;
}

/// What the host saw of launches and of requests around them, on the machine as busy as it is.
struct HostView {
  double least_ns = 0;    ///< of the candidate, request and all
  double request_ns = 0;  ///< what requests to a trusted process took beyond the launch, at worst
  [[nodiscard]] bool contradicts(double claimed_ns) const {
    return claimed_ns < k_clock_slack * least_ns - k_request_slack * request_ns;
  }
};

/// One more launch of the candidate and of the plain kernel, side by side.
void look_again(Session& session, Contender& candidate, HostView& view) {
  const auto again = time_alone(session, candidate, 1);
  const auto plain = time_alone(session, session.plain, 1);
  if (!again || !plain) return;
  for (const double observed_ns : again->observed_ns) view.least_ns = std::min(view.least_ns, observed_ns);
  for (std::size_t i = 0; i < plain->candidate_ns.size(); ++i) {
    view.request_ns = std::max(view.request_ns, plain->observed_ns[i] - plain->candidate_ns[i]);
  }
}

/// Whether the least disturbed launch took longer than was claimed and a request costs. A busy machine may make every
/// launch of a moment look so, and a lie looks so at any moment.
bool contradicts_clock(Session& session, Contender& candidate, const TimingResult& timed, double claimed_ns) {
  HostView view{*std::min_element(timed.observed_ns.begin(), timed.observed_ns.end()),
                std::max(session.request_ns, timed.other_request_ns)};
  for (int i = 0; i < k_second_looks && view.contradicts(claimed_ns); ++i) look_again(session, candidate, view);
  return view.contradicts(claimed_ns);
}

bool is_above_roofline(const Session& session, double claimed_ns) {
  const auto bound = session.roofline_ns();
  return bound && claimed_ns < k_roofline_slack * *bound;
}

/// Peaks that were measured while the machine was busy make honest kernels look impossible (seen during a build).
void measure_peaks_again(Session& session) {
  const auto again = calibrate(session.bench);
  if (!again) return;
  auto& device = session.options.device;
  device.peak_f32_flops = std::max(device.peak_f32_flops, again->peak_f32_flops);
  device.peak_bytes = std::max(device.peak_bytes, again->peak_bytes);
}

bool believable(Session& session, Trial& trial, const TimingResult& timed) {
  const double claimed_ns = trial.measurement->median_ns;
  const double observed_ns = median(timed.observed_ns);
  trial.verdict.note(GateId::time, fmt::format("median claimed by the process {:.0f} ns, seen by the host {:.0f} ns",
                                               claimed_ns, observed_ns));
  for (int i = 0; i < k_looks_at_peaks && is_above_roofline(session, claimed_ns); ++i) measure_peaks_again(session);
  if (const auto bound = session.roofline_ns(); bound && is_above_roofline(session, claimed_ns)) {
    trial.verdict.reject(
        GateId::time, Reason::above_roofline,
        fmt::format("{:.0f} ns is less than the {:.0f} ns that the device's measured peaks allow", claimed_ns, *bound));
    return false;
  }
  if (contradicts_clock(session, trial.contender, timed, claimed_ns)) {
    trial.verdict.reject(GateId::time, Reason::clock_mismatch,
                         fmt::format("the process claims {:.0f} ns per launch, the host's clock saw {:.0f} ns",
                                     claimed_ns, observed_ns));
    return false;
  }
  return true;
}

}  // namespace

bool run_time_gate(Session& session, Trial& trial) {
  auto timed = session.incumbent ? compare_interleaved(session, trial.contender, *session.incumbent,
                                                       session.options.comparison, "incumbent")
                                 : time_alone(session, trial.contender, k_solo_samples);
  if (!timed) return reject_timing(session, trial, timed.error());
  if (timed->candidate_ns.empty()) {
    trial.verdict.cannot_decide(GateId::time, "every timed pair was disturbed by other work on the machine");
    return false;
  }
  trial.measurement = summarise(timed->candidate_ns, session.rng);
  if (session.incumbent) {
    trial.measurement->stopped_early = timed->stopped_early;
    trial.measurement->versus.push_back(timed->versus);
  }
  return believable(session, trial, *timed);
}

}  // namespace kw
