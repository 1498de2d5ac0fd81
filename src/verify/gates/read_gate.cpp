// The gate `read`: the plan is consistent and bounded for every workload, and the source includes nothing but what its
// language itself needs. The bundle itself was parsed before it became a Candidate.

#include "language/kernel_words.hpp"
#include "language/language.hpp"
#include "record/launch_plan.hpp"
#include "verify/checking/source_policy.hpp"
#include "verify/gates/gate.hpp"

namespace kw {
namespace {

/// A kernel that the compiler would refuse for its name alone, in words that say so.
std::optional<std::string> taken_kernel_name(const Bundle& bundle) {
  const Language* language = find_language(bundle.target);
  if (language == nullptr) return std::nullopt;
  for (const Launch& launch : bundle.launches) {
    if (!is_no_kernel_name(launch.kernel, *language)) continue;
    return fmt::format(
        "a kernel is called '{}', which {} has as a word or a function of its own: give it another name, in "
        "its launch and in the source",
        launch.kernel, language->title);
  }
  return std::nullopt;
}

}  // namespace

bool run_read_gate(GateContext& context) {
  const auto& candidate = context.loaded.candidate;
  if (candidate.bundle.target != context.facts.device().target) {
    context.verdict.reject(GateId::read, Reason::bundle_invalid,
                           fmt::format("the bundle is for target {}, the device {} takes {}", candidate.bundle.target,
                                       context.facts.device().id, context.facts.device().target));
    return false;
  }
  if (const auto taken = taken_kernel_name(candidate.bundle)) {
    context.verdict.reject(GateId::read, Reason::bundle_invalid, *taken);
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
