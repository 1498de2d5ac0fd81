// Gate 7, profile: where the time lies against the roofline, and what the hardware counts of a kernel that would become
// the best. Never rejects.

#include "verify/gates/gate.hpp"
#include "verify/profile.hpp"

namespace kw {

bool run_profile_gate(Session& session, Trial& trial) {
  if (!trial.measurement) return true;
  Measurement& measurement = *trial.measurement;
  fill_profile(session, measurement);
  if (measurement.roofline_fraction) {
    trial.verdict.note(GateId::profile, fmt::format("{:.1f} GFLOP/s, {:.0f} % of the roofline at {:.1f} FLOP per byte",
                                                    measurement.gflops, 100.0 * *measurement.roofline_fraction,
                                                    session.cost.flops / session.cost.bytes));
  }
  if (becomes_best(measurement) && session.time_for_profiler()) {
    if (const auto why_not = count_in_hardware(session, trial.contender, measurement)) {
      trial.verdict.note(GateId::profile, "no hardware counters, the compiler's figures stand in: " + *why_not);
    }
  }
  return true;
}

}  // namespace kw
