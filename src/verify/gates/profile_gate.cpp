// The gate `profile`: where the time lies against the roofline, what the hardware counts of a kernel that would become
// the best, and what a simulator counts of its accesses of memory. Never rejects.

#include "verify/gates/gate.hpp"
#include "verify/tools/profile.hpp"
#include "verify/tools/simulated_accesses.hpp"

namespace kw {
namespace {

void note_roofline(GateContext& context, Measurement& measurement) {
  fill_profile(context.facts, context.measuring, measurement);
  if (!measurement.roofline_fraction) return;
  const WorkloadCost work = context.facts.costs().primary();
  context.verdict.note(GateId::profile, fmt::format("{:.1f} GFLOP/s, {:.0f} % of the roofline at {:.1f} FLOP per byte",
                                                    measurement.gflops, 100.0 * *measurement.roofline_fraction,
                                                    work.flops / work.bytes));
}

void ask_hardware(GateContext& context, Measurement& measurement) {
  if (!context.measuring.profiling.has_time(context.facts)) return;
  if (const auto why_not =
          count_in_hardware(context.facts, context.measuring.profiling, context.loaded, context.clock, measurement)) {
    context.verdict.note(GateId::profile, "no hardware counters, the compiler's figures stand in: " + *why_not);
  }
}

/// False where nobody asked, or nothing here can simulate the kernel.
bool ask_simulator(GateContext& context) {
  if (!context.facts.options.count_accesses) return false;
  ExecutionBackend* simulator = counting_simulator(context.facts);
  if (simulator == nullptr) return false;
  auto counted = count_accesses(context.facts, *simulator, context.loaded, context.clock);
  if (counted) {
    context.accesses = *std::move(counted);
  } else {
    context.verdict.note(GateId::profile, "accesses of memory were not counted: " + counted.error());
  }
  return counted.has_value();
}

}  // namespace

bool run_profile_gate(GateContext& context) {
  if (!context.facts.timed()) {
    context.skipped = !ask_simulator(context);
    return true;
  }
  if (!context.measurement) return true;
  note_roofline(context, *context.measurement);
  if (!becomes_best(*context.measurement)) return true;
  ask_hardware(context, *context.measurement);
  static_cast<void>(ask_simulator(context));
  return true;
}

}  // namespace kw
