#include "record/time_use.hpp"
#include "verify/gates/gate.hpp"

namespace kw {
namespace {

bool is_needed(const Gate& gate, GateContext& context) {
  if (gate.needs.screens && *gate.needs.screens != context.screens) return false;
  if (context.facts.timed()) {
    const bool is_best = context.measurement && context.measuring.would_be_best(*context.measurement);
    return is_best || !gate.needs.would_be_best;
  }
  if (gate.needs.timed_device && !context.untimed) context.untimed = gate.id;
  return !gate.needs.timed_device;
}

/// The plain kernel's gates are part of the opening.
TimeLedger::Span spending_of(const Gate& gate, const GateContext& context) {
  TimeLedger* const ledger = context.clock.ledger();
  if (context.is_baseline) return TimeLedger::activity(ledger, time_activity::compiling);
  return TimeLedger::stage(ledger, to_string(gate.id));
}

}  // namespace

bool is_screened(const RunFacts& facts, const MeasureState& measuring) {
  return facts.options.screen && facts.timed() && measuring.champion.has_value();
}

bool run_gates(GatePhase phase, GateContext& context) {
  for (const Gate& gate : gates()) {
    if (gate.phase != phase || !is_needed(gate, context)) continue;
    if (context.clock.out_of_time()) {
      context.verdict.cannot_decide(gate.id, k_budget_ended);
      return false;
    }
    const auto spending = spending_of(gate, context);
    context.skipped = false;
    if (!gate.run(context)) return false;
    if (!context.skipped) context.verdict.pass(gate.id);
  }
  return true;
}

void run_ahead(GateContext& context) {
  for (const Gate& gate : gates()) {
    if (gate.ahead != nullptr) gate.ahead(context);
  }
}

}  // namespace kw
