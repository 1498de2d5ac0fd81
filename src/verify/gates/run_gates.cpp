#include "verify/gates/gate.hpp"

namespace kw {
namespace {

bool is_needed(const Gate& gate, GateContext& context) {
  if (context.facts.timed()) {
    const bool would_be_best = context.measurement && becomes_best(*context.measurement);
    return would_be_best || !gate.needs.would_be_best;
  }
  if (gate.needs.timed_device && !context.untimed) context.untimed = gate.id;
  return !gate.needs.timed_device;
}

}  // namespace

bool run_gates(GatePhase phase, GateContext& context) {
  for (const Gate& gate : gates()) {
    if (gate.phase != phase || !is_needed(gate, context)) continue;
    if (context.clock.out_of_time()) {
      context.verdict.cannot_decide(gate.id, k_budget_ended);
      return false;
    }
    context.skipped = false;
    if (!gate.run(context)) return false;
    if (!context.skipped) context.verdict.pass(gate.id);
  }
  return true;
}

}  // namespace kw
