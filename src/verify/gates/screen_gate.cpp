// The gate `screen`: the least that is worth knowing before a candidate is timed against the best. The primary workload
// once, and one case of each other workload that is no larger and runs from the same build. What passes is not
// verified: the gate `check` looks at everything before a candidate is called best.

#include <algorithm>

#include "verify/gates/case_check.hpp"

namespace kw {
namespace {

/// Whether what has been built so far serves that workload.
bool is_built(const GateContext& context, std::size_t workload) {
  const StartRequest& built = context.loaded.built;
  return built.plans[workload].binary < built.binaries.size();
}

/// Small ones first: a wrong kernel is found where looking is cheap.
std::vector<const CheckCase*> screening_cases(const GateContext& context) {
  const auto steps_of = [&](std::size_t workload) { return context.facts.costs().of(workload).steps; };
  std::vector<const CheckCase*> chosen;
  for (const CheckCase& one : context.facts.suite.cases()) {
    const bool known = std::ranges::any_of(chosen, [&](const CheckCase* c) { return c->workload == one.workload; });
    if (known || !is_built(context, one.workload) || steps_of(one.workload) > steps_of(0)) continue;
    chosen.push_back(&one);
  }
  std::ranges::stable_sort(chosen, {}, [&](const CheckCase* one) { return steps_of(one->workload); });
  return chosen;
}

}  // namespace

bool run_screen_gate(GateContext& context) {
  if (!start_for(GateId::screen, context)) return false;
  for (const CheckCase* one : screening_cases(context)) {
    if (context.clock.out_of_time()) {
      context.verdict.cannot_decide(GateId::screen, k_budget_ended);
      return false;
    }
    const StoredInputs inputs(context.facts.problem, *one);
    const auto run = run_untimed(GateId::screen, context, *one, inputs, {.poison = k_nan_poison});
    if (!run || !judge_run(GateId::screen, context, *one, *run, k_nan_poison, &context.accuracy)) return false;
  }
  return true;
}

}  // namespace kw
