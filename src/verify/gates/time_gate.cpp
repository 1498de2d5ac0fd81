// Gate 6, time: interleaved with the incumbent, or alone while there is none. Faster than the device can be, or a claim
// the host's clock contradicts, is a rejection, not a record.

#include "verify/gates/gate.hpp"
#include "verify/timing.hpp"

namespace kw {
namespace {

/// The measured peaks are themselves measurements: only a time well below the bound is called impossible.
constexpr double k_roofline_slack = 0.8;
/// A cold launch cannot be much faster than a warm one seen from outside.
constexpr double k_clock_slack = 0.7;
constexpr double k_request_overhead_ns = 300e3;
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

bool believable(Session& session, Trial& trial) {
  const double median_ns = trial.measurement->median_ns;
  if (const auto bound = session.roofline_ns(); bound && median_ns < k_roofline_slack * *bound) {
    trial.verdict.reject(
        GateId::time, Reason::above_roofline,
        fmt::format("{:.0f} ns is less than the {:.0f} ns that the device's measured peaks allow", median_ns, *bound));
    return false;
  }
  const auto observed = observed_warm_ns(session, trial.contender);
  if (!observed) return reject_timing(session, trial, observed.error());
  if (median_ns < k_clock_slack * *observed - k_request_overhead_ns) {
    trial.verdict.reject(GateId::time, Reason::clock_mismatch,
                         fmt::format("the process claims {:.0f} ns per launch, the host's clock saw at least {:.0f} ns",
                                     median_ns, *observed));
    return false;
  }
  trial.verdict.note(GateId::time, fmt::format("claimed {:.0f} ns cold; the host saw {:.0f} ns warm, request included",
                                               median_ns, *observed));
  return true;
}

}  // namespace

bool run_time_gate(Session& session, Trial& trial) {
  if (!session.incumbent) {
    auto alone = time_alone(session, trial.contender, k_solo_samples, true);
    if (!alone) return reject_timing(session, trial, alone.error());
    trial.measurement = summarise(*alone, session.rng);
    return believable(session, trial);
  }
  auto pairs =
      compare_interleaved(session, trial.contender, *session.incumbent, session.options.comparison, "incumbent");
  if (!pairs) return reject_timing(session, trial, pairs.error());
  trial.measurement = summarise(pairs->candidate_ns, session.rng);
  trial.measurement->stopped_early = pairs->stopped_early;
  trial.measurement->versus.push_back(pairs->versus);
  return pairs->stopped_early || believable(session, trial);
}

}  // namespace kw
