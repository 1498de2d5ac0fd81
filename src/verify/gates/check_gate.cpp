// Gate 4, check: every workload under every distribution, twice, against the oracle. The first run and the second have
// different poison in outputs and scratch, so that a kernel which reads what it did not write shows as
// nondeterministic.

#include "verify/case_runner.hpp"
#include "verify/gates/gate.hpp"

namespace kw {
namespace {

bool check_case(Session& session, Trial& trial, const CheckCase& one) {
  CaseMode mode{false, k_nan_poison, session.launch_deadline()};
  auto first = run_case(session, trial.contender, one, mode);
  if (!first) {
    reject_case(session, one, GateId::check, first.error(), trial.verdict);
    return false;
  }
  if (auto failure = judge_case(session, one, *first, mode, &trial.accuracy)) {
    reject_case(session, one, GateId::check, *failure, trial.verdict);
    return false;
  }
  mode.poison = k_finite_poison;
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
    const CaseFailure differs{Reason::nondeterministic, "two runs on the same data gave different bits", ""};
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
  for (const auto& one : session.suite.cases()) {
    if (!check_case(session, trial, one)) return false;
  }
  return true;
}

}  // namespace kw
