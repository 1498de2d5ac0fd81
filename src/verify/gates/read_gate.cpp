// Gate 1, read: the plan is consistent and bounded for every workload, and the source includes nothing but what its
// language itself needs. The bundle itself was parsed before it became a Candidate.

#include "record/launch_plan.hpp"
#include "verify/gates/gate.hpp"
#include "verify/source_policy.hpp"

namespace kw {

bool run_read_gate(Session& session, Trial& trial) {
  const auto& candidate = trial.contender.candidate;
  if (candidate.bundle.target != session.options.device.target) {
    trial.verdict.reject(GateId::read, Reason::bundle_invalid,
                         fmt::format("the bundle is for target {}, the device {} takes {}", candidate.bundle.target,
                                     session.options.device.id, session.options.device.target));
    return false;
  }
  if (const auto problem = source_problem(candidate.bundle.source, candidate.bundle.target)) {
    trial.verdict.reject(GateId::read, Reason::source_forbidden, *problem);
    return false;
  }
  for (const auto& workload : session.problem.workloads) {
    auto plan = plan_launches(candidate, session.problem, workload.axes, session.options.device);
    if (!plan) {
      const bool hidden = workload.role == WorkloadRole::held_out;
      trial.verdict.note(GateId::read, fmt::format("workload {}: {}", workload.name, plan.error().to_string()), hidden);
      trial.verdict.reject(GateId::read, Reason::bundle_invalid,
                           hidden ? "the launch plan is not valid on a held-out workload (other sizes than the primary)"
                                  : fmt::format("workload {}: {}", workload.name, plan.error().message));
      return false;
    }
    trial.contender.built.plans.push_back({*std::move(plan), 0});
  }
  return true;
}

}  // namespace kw
