// Gate 4, check: every workload under every distribution, twice, against the oracle. The first run and the second have
// different poison in outputs and scratch, so that a kernel which reads what it did not write shows as
// nondeterministic.

#include <algorithm>

#include "verify/case_runner.hpp"
#include "verify/gates/gate.hpp"
#include "verify/place_words.hpp"

namespace kw {
namespace {

/// Which elements of which output two runs disagree about: a race shows in one tile, an unwritten tail at the end.
std::string where_different(const Session& session, const CheckCase& one, const CaseRun& first, const CaseRun& second) {
  const Axes& axes = session.problem.workloads[one.workload].axes;
  std::string text;
  for (std::size_t output = 0; output < first.outputs.size(); ++output) {
    const auto& tensor = session.problem.outputs[output];
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
    for (const auto& words : place_words(differs, tensor, axes)) text += "\n  pattern: " + words;
  }
  return text;
}

bool check_case(Session& session, Trial& trial, const CheckCase& one) {
  const auto mode_with = [&session](const Poison& poison) {
    const Patience patience = session.patience(session.launch_deadline());
    return CaseMode{false, poison, patience.time, patience.ends_budget};
  };
  CaseMode mode = mode_with(k_nan_poison);
  auto first = run_case(session, trial.contender, one, mode);
  if (!first) {
    reject_case(session, one, GateId::check, first.error(), trial.verdict);
    return false;
  }
  if (auto failure = judge_case(session, one, *first, mode, &trial.accuracy)) {
    reject_case(session, one, GateId::check, *failure, trial.verdict);
    return false;
  }
  mode = mode_with(k_finite_poison);
  auto second = run_case(session, trial.contender, one, mode);
  if (!second) {
    reject_case(session, one, GateId::check, second.error(), trial.verdict);
    return false;
  }
  if (auto failure = judge_case(session, one, *second, mode, nullptr)) {
    reject_case(session, one, GateId::check, *failure, trial.verdict);
    return false;
  }
  if (trial.contender.candidate.bundle.deterministic && second->outputs != first->outputs) {
    const CaseFailure differs{Reason::nondeterministic, "two runs on the same data gave different bits",
                              where_different(session, one, *first, *second)};
    reject_case(session, one, GateId::check, differs, trial.verdict);
    return false;
  }
  return true;
}

}  // namespace

bool run_check_gate(Session& session, Trial& trial) {
  if (auto failure = start_contender(session, trial.contender)) {
    reject_case(session, session.suite.cases().front(), GateId::check, *failure, trial.verdict);
    return false;
  }
  for (const std::size_t workload : session.suite.left_out()) {
    const Workload& large = session.problem.workloads[workload];
    trial.verdict.note(GateId::check,
                       fmt::format("{}: not run, {:.3g} useful FLOPs are too many for {}", large.name,
                                   cost(session.problem, large).flops, session.options.device.id),
                       large.role == WorkloadRole::held_out);
  }
  if (session.suite.cases_left_out() > 0) {
    const std::size_t run = session.suite.cases().size();
    trial.verdict.note(GateId::check,
                       fmt::format("{} of {} pairs of workload and inputs are run: all of them are too "
                                   "many useful FLOPs for {}",
                                   run, run + session.suite.cases_left_out(), session.options.device.id));
  }
  for (const auto& one : session.suite.cases()) {
    if (session.out_of_time()) {
      trial.verdict.cannot_decide(GateId::check, k_budget_ended);
      return false;
    }
    if (!check_case(session, trial, one)) return false;
  }
  return true;
}

}  // namespace kw
