// The gate `check`: every workload under every distribution, most of them twice, against the oracle. The first run and
// the second have different poison in outputs and scratch, so that a kernel which reads what it did not write shows as
// nondeterministic.

#include <algorithm>

#include "verify/checking/error_location.hpp"
#include "verify/gates/case_check.hpp"
#include "verify/gates/other_workloads.hpp"

namespace kw {
namespace {

/// Which elements of which output two runs disagree about: a race shows in one tile, an unwritten tail at the end.
std::string where_different(const Problem& problem, const CheckCase& one, const CaseRun& first, const CaseRun& second) {
  const Axes& axes = problem.workloads[one.workload].axes;
  std::string text;
  for (std::size_t output = 0; output < first.outputs.size(); ++output) {
    const auto& tensor = problem.outputs[output];
    const auto& a = first.outputs[output];
    const auto& b = second.outputs[output];
    const auto width = static_cast<std::size_t>(bytes_per_element(tensor.dtype));
    std::vector<bool> differs(a.size() / width, false);
    for (std::size_t i = 0; i < differs.size() * width; ++i) {
      if (a[i] != b[i]) differs[i / width] = true;
    }
    const auto count = std::count(differs.begin(), differs.end(), true);
    if (count == 0) continue;
    text += fmt::format("{}{}: {} of {} elements differ between two runs", text.empty() ? "" : "\n", tensor.name, count,
                        differs.size());
    for (const auto& words : error_location(differs, tensor, axes)) text += "\n  pattern: " + words;
  }
  return text;
}

/// What a second run can show shows on the other cases of the primary workload; one more launch of the largest workload
/// would tell nothing new.
bool runs_twice(const CheckCase& one) {
  return one.workload != 0 || one.distribution.own == nullptr;
}

/// What the cases of a check use one after the other: of new memory each page is cleared when it is first used, which
/// takes longer than filling it.
struct CheckMemory {
  StoredInputs inputs;
  OutputBytes first;
  OutputBytes second;
};

/// Of outputs that were found to be right. The same bits are right again.
bool check_again(GateContext& context, const CheckCase& one, const CaseRun& first, CheckMemory& memory) {
  auto second = run_untimed(
      GateId::check, context, one, memory.inputs,
      {.poison = k_finite_poison, .memory = &memory.second, .earlier = &first.outputs, .inputs_are_there = true});
  if (!second) return false;
  if (second->repeats) return true;
  bool passes = false;
  if (judge_run(GateId::check, context, one, *second, k_finite_poison, nullptr)) {
    passes = !context.loaded.candidate.bundle.deterministic;
    if (!passes) {
      const CaseFailure differs{Reason::nondeterministic, "two runs on the same data gave different bits",
                                where_different(context.facts.problem, one, first, *second)};
      reject_case(context.facts.problem, one, GateId::check, differs, context.verdict);
    }
  }
  memory.second = std::move(second->outputs);
  return passes;
}

bool check_case(GateContext& context, const CheckCase& one, CheckMemory& memory) {
  memory.inputs = StoredInputs(context.facts.problem, one, std::move(memory.inputs));  // for both runs
  auto first =
      run_untimed(GateId::check, context, one, memory.inputs, {.poison = k_nan_poison, .memory = &memory.first});
  if (!first || !judge_run(GateId::check, context, one, *first, k_nan_poison, &context.accuracy)) return false;
  const bool passes = !runs_twice(one) || check_again(context, one, *first, memory);
  memory.first = std::move(first->outputs);
  return passes;
}

/// Whether the kernel ran to its end and its answer is what is wrong.
bool is_wrong_answer(const Verdict& verdict) {
  const Reason reason = verdict.reason;
  return verdict.status == VerdictStatus::rejected &&
         (reason == Reason::wrong_result || reason == Reason::not_finite || reason == Reason::output_unwritten);
}

void note_other_workloads(GateContext& context, const CheckCase& failed) {
  if (!is_wrong_answer(context.verdict)) return;
  const std::string text = other_workloads(context, failed);
  if (!text.empty()) context.verdict.note(GateId::check, text);
}

std::string why_left_out(const RunFacts& facts, std::size_t workload) {
  const std::string& name = facts.problem.workloads[workload].name;
  const auto& untold = facts.suite.untold();
  if (std::find(untold.begin(), untold.end(), workload) != untold.end()) {
    return fmt::format("{}: not run, because roundings of the inputs decide the answer there", name);
  }
  return fmt::format("{}: not run, {:.3g} useful FLOPs are too many for {}", name, facts.costs().of(workload).steps,
                     facts.device().id);
}

}  // namespace

bool run_check_gate(GateContext& context) {
  context.accuracy.clear();  // of a screening
  if (!build_the_rest(context) || !start_for(GateId::check, context)) return false;
  for (const std::size_t workload : context.facts.suite.left_out()) {
    context.verdict.note(GateId::check, why_left_out(context.facts, workload),
                         context.facts.problem.workloads[workload].role == WorkloadRole::held_out);
  }
  if (context.facts.suite.cases_left_out() > 0) {
    const std::size_t run = context.facts.suite.cases().size();
    context.verdict.note(GateId::check,
                         fmt::format("{} of {} pairs of workload and inputs are run: all of them are too "
                                     "many useful FLOPs for {}",
                                     run, run + context.facts.suite.cases_left_out(), context.facts.device().id));
  }
  CheckMemory memory;
  for (const auto& one : context.facts.suite.cases()) {
    if (context.clock.out_of_time()) {
      context.verdict.cannot_decide(GateId::check, k_budget_ended);
      return false;
    }
    if (!check_case(context, one, memory)) {
      note_other_workloads(context, one);
      return false;
    }
  }
  return true;
}

}  // namespace kw
