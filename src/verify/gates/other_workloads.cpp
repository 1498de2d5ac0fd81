#include "verify/gates/other_workloads.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "record/launch_plan.hpp"
#include "verify/checking/fitting_conditions.hpp"

namespace kw {
namespace {

bool may_be_named(const Workload& workload) {
  return workload.role != WorkloadRole::held_out;
}

/// Axes in which the workloads that may be named differ: the only ones that tell them apart.
std::set<std::string> telling_axes(const Problem& problem) {
  std::set<std::string> names;
  for (const auto& workload : problem.workloads) {
    if (!may_be_named(workload)) continue;
    for (const auto& [axis, extent] : workload.axes) {
      const auto primary = problem.primary().axes.find(axis);
      if (primary == problem.primary().axes.end() || primary->second != extent) names.insert(axis);
    }
  }
  return names;
}

std::string named(const Workload& workload, const std::set<std::string>& axes) {
  std::string sizes;
  for (const auto& [axis, extent] : workload.axes) {
    if (axes.contains(axis)) sizes += fmt::format("{}{} = {}", sizes.empty() ? "" : ", ", axis, extent);
  }
  return sizes.empty() ? workload.name : fmt::format("{} ({})", workload.name, sizes);
}

Axes only(const Axes& all, const std::set<std::string>& names) {
  Axes some;
  for (const auto& [axis, extent] : all) {
    if (names.contains(axis)) some.emplace(axis, extent);
  }
  return some;
}

/// What the compiler is told of the kernel that is the same for all workloads that may be named.
IntBindings constants_of(const GateContext& context) {
  IntBindings constants;
  bool first = true;
  for (const Workload& workload : context.facts.problem.workloads) {
    if (!may_be_named(workload)) continue;
    const auto definitions = build_definitions(context.loaded.candidate, workload.axes, context.facts.device());
    if (!definitions) return {};
    if (std::exchange(first, false)) constants = *definitions;
    std::erase_if(constants, [&](const auto& one) {
      const auto found = definitions->find(one.first);
      return found == definitions->end() || found->second != one.second;
    });
  }
  return constants;
}

/// One case of each workload that may be named, in the order of the suite: under the distribution of the case that
/// failed, where there is such a one, else the first. Of a held-out workload not even its distribution is told.
std::vector<const CheckCase*> cases_to_tell(const GateContext& context, const CheckCase& failed) {
  const Problem& problem = context.facts.problem;
  const bool may_follow = may_be_named(problem.workloads[failed.workload]);
  std::vector<const CheckCase*> cases;
  for (const CheckCase& one : context.facts.suite.cases()) {
    if (!may_be_named(problem.workloads[one.workload])) continue;
    const auto known = std::ranges::find(cases, one.workload, &CheckCase::workload);
    if (known == cases.end()) {
      cases.push_back(&one);
    } else if (may_follow && one.distribution.name == failed.distribution.name) {
      *known = &one;
    }
  }
  return cases;
}

enum class Outcome : std::uint8_t { right, wrong, lost };

Outcome look_at(GateContext& context, const CheckCase& one) {
  const RunFacts& facts = context.facts;
  const StepTimeout timeout =
      context.clock.timeout(context.measuring.baseline.launch_deadline(facts.options.deadlines));
  const CaseMode mode{false, k_nan_poison, timeout.time, timeout.ends_budget};
  const auto run = run_case(facts.problem, context.loaded, one, mode, context.clock);
  if (!run) return Outcome::lost;
  return judge_case(facts.problem, one, *run, mode, nullptr) ? Outcome::wrong : Outcome::right;
}

}  // namespace

std::string other_workloads(GateContext& context, const CheckCase& failed) {
  const Problem& problem = context.facts.problem;
  const std::set<std::string> axes = telling_axes(problem);
  std::vector<JudgedSizes> judged;
  std::string text;
  for (const CheckCase* one : cases_to_tell(context, failed)) {
    const Workload& workload = problem.workloads[one->workload];
    if (context.clock.out_of_time()) break;
    const Outcome outcome = look_at(context, *one);
    if (outcome == Outcome::lost) break;
    judged.push_back({only(workload.axes, axes), outcome == Outcome::right});
    text += fmt::format("{}{}: {} with {} inputs", text.empty() ? "" : "; ", named(workload, axes),
                        outcome == Outcome::right ? "right" : "wrong", one->distribution.name);
  }
  if (text.empty()) return "";
  const auto conditions = fitting_conditions(judged, constants_of(context));
  if (!conditions.empty()) text += "; that is as if it were right only where " + join(conditions, ", or where ");
  return "the workloads by themselves: " + text;
}

}  // namespace kw
