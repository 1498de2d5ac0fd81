// The gate `read`: the plan is consistent and bounded for every workload, and the source includes nothing but what its
// language itself needs. The bundle itself was parsed before it became a Candidate.

#include "record/launch_plan.hpp"
#include "verify/checking/source_policy.hpp"
#include "verify/gates/gate.hpp"

namespace kw {

bool run_read_gate(GateContext& context) {
  const auto& candidate = context.loaded.candidate;
  if (candidate.bundle.target != context.facts.device().target) {
    context.verdict.reject(GateId::read, Reason::bundle_invalid,
                           fmt::format("the bundle is for target {}, the device {} takes {}", candidate.bundle.target,
                                       context.facts.device().id, context.facts.device().target));
    return false;
  }
  if (const auto problem = source_problem(candidate.bundle.source, candidate.bundle.target)) {
    context.verdict.reject(GateId::read, Reason::source_forbidden, *problem);
    return false;
  }
  for (const auto& workload : context.facts.problem.workloads) {
    auto plan = plan_launches(candidate, context.facts.problem, workload.axes, context.facts.device());
    if (!plan) {
      const bool hidden = workload.role == WorkloadRole::held_out;
      context.verdict.note(GateId::read, fmt::format("workload {}: {}", workload.name, plan.error().to_string()),
                           hidden);
      context.verdict.reject(GateId::read, Reason::bundle_invalid,
                             hidden
                                 ? "the launch plan is not valid on a held-out workload (other sizes than the primary)"
                                 : fmt::format("workload {}: {}", workload.name, plan.error().message));
      return false;
    }
    context.loaded.built.plans.push_back({*std::move(plan), 0});
  }
  return true;
}

}  // namespace kw
