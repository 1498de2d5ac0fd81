#include "verify/gates/case_check.hpp"

#include "record/time_use.hpp"
#include "verify/checking/asked_roundings.hpp"

namespace kw {

bool start_for(GateId gate, GateContext& context) {
  const auto starting = context.clock.doing(time_activity::starting);
  const RunFacts& facts = context.facts;
  const StepTimeout timeout = context.clock.timeout(facts.options.deadlines.start);
  const auto failure = start_candidate(facts.backend, context.loaded, timeout.time);
  if (failure && failure->reason == Reason::timeout && timeout.ends_budget) {
    context.clock.hit_deadline();
    context.verdict.cannot_decide(gate, k_budget_ended);
  } else if (failure) {
    reject_case(facts.problem, facts.suite.cases().front(), gate, *failure, context.verdict);
  }
  return !failure;
}

std::optional<CaseRun> run_untimed(GateId gate, GateContext& context, const CheckCase& one, const StoredInputs& inputs,
                                   CaseMode mode) {
  const RunFacts& facts = context.facts;
  const StepTimeout timeout =
      context.clock.timeout(context.measuring.baseline.launch_deadline(facts.options.deadlines));
  mode.deadline = timeout.time;
  mode.ends_budget = timeout.ends_budget;
  auto run = run_plan(facts.problem, context.loaded, one.workload, inputs, mode, context.clock, facts.options.parallel);
  if (run) return *std::move(run);
  reject_case(facts.problem, one, gate, run.error(), context.verdict);
  return std::nullopt;
}

bool judge_run(GateId gate, GateContext& context, const CheckCase& one, const CaseRun& run, const Poison& poison,
               AccuracyTable* accuracy) {
  const RunFacts& facts = context.facts;
  const CaseMode mode{false, poison};
  const auto judging = context.clock.doing(time_activity::judging);
  AccuracyTable reached;
  auto failure = judge_case(facts.problem, one, run, mode, &reached, facts.options.parallel);
  if (failure && failure->reason == Reason::wrong_result) {
    const double steps = facts.costs().of(one.workload).steps;
    if (const auto asked = with_roundings_asked(facts.problem, one, steps, reached.back().max_error)) {
      reached.clear();
      failure = judge_case(facts.problem, *asked, run, mode, &reached, facts.options.parallel);
    }
  }
  if (accuracy != nullptr) accuracy->insert(accuracy->end(), reached.begin(), reached.end());
  if (failure) reject_case(facts.problem, one, gate, *failure, context.verdict);
  return !failure;
}

}  // namespace kw
