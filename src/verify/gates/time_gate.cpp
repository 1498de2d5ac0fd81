// Gate 6, time: interleaved with the incumbent, or alone while there is none. Faster than the device can be, or a claim
// the host's clock contradicts, is a rejection, not a record.

#include <algorithm>

#include "verify/gates/gate.hpp"
#include "verify/timing.hpp"

namespace kw {
namespace {

/// The measured peaks are themselves measurements: only a time well below the bound is called impossible.
constexpr double k_roofline_slack = 0.8;
/// The host's clock around a request contains the launch: the claim may be shorter by what a request costs, measured on
/// a process we trust, not by much more.
constexpr double k_clock_slack = 0.7;
constexpr double k_request_slack = 2.0;
constexpr int k_solo_samples = 10;

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

bool believable(Session& session, Trial& trial, const TimingResult& timed) {
  const double claimed_ns = trial.measurement->median_ns;
  const double observed_ns = median(timed.observed_ns);
  trial.verdict.note(GateId::time, fmt::format("median claimed by the process {:.0f} ns, seen by the host {:.0f} ns",
                                               claimed_ns, observed_ns));
  if (const auto bound = session.roofline_ns(); bound && claimed_ns < k_roofline_slack * *bound) {
    trial.verdict.reject(
        GateId::time, Reason::above_roofline,
        fmt::format("{:.0f} ns is less than the {:.0f} ns that the device's measured peaks allow", claimed_ns, *bound));
    return false;
  }
  // The least disturbed launch, less what requests to a trusted process cost beyond the launch on this machine today.
  const double least_ns = *std::min_element(timed.observed_ns.begin(), timed.observed_ns.end());
  const double request_ns = k_request_slack * std::max(session.request_ns, timed.other_request_ns);
  if (claimed_ns < k_clock_slack * least_ns - request_ns) {
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
