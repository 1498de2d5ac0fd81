// Gate 7, profile: where the time lies against the roofline, and what the compiler reported. Never rejects.

#include "verify/gates/gate.hpp"
#include "verify/profile.hpp"

namespace kw {

bool run_profile_gate(Session& session, Trial& trial) {
  if (!trial.measurement) return true;
  fill_profile(session, *trial.measurement);
  const auto& measurement = *trial.measurement;
  if (measurement.roofline_fraction) {
    trial.verdict.note(GateId::profile, fmt::format("{:.1f} GFLOP/s, {:.0f} % of the roofline at {:.1f} FLOP per byte",
                                                    measurement.gflops, 100.0 * *measurement.roofline_fraction,
                                                    session.cost.flops / session.cost.bytes));
  }
  return true;
}

}  // namespace kw
