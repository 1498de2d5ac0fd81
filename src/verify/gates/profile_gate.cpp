// The gate `profile`: where the time lies against the roofline, and what the hardware counts of a kernel that would
// become the best. Never rejects.

#include "verify/gates/gate.hpp"
#include "verify/tools/profile.hpp"

namespace kw {

bool run_profile_gate(GateContext& context) {
  if (!context.measurement) return true;
  Measurement& measurement = *context.measurement;
  fill_profile(context.facts, context.measuring, measurement);
  if (measurement.roofline_fraction) {
    const WorkloadCost work = context.facts.costs().primary();
    context.verdict.note(
        GateId::profile,
        fmt::format("{:.1f} GFLOP/s, {:.0f} % of the roofline at {:.1f} FLOP per byte", measurement.gflops,
                    100.0 * *measurement.roofline_fraction, work.flops / work.bytes));
  }
  if (becomes_best(measurement) && context.measuring.profiling.has_time(context.facts)) {
    if (const auto why_not =
            count_in_hardware(context.facts, context.measuring.profiling, context.loaded, context.clock, measurement)) {
      context.verdict.note(GateId::profile, "no hardware counters, the compiler's figures stand in: " + *why_not);
    }
  }
  return true;
}

}  // namespace kw
