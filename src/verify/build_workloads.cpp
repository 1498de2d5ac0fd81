#include "verify/build_workloads.hpp"

#include <algorithm>

#include "verify/checking/source_policy.hpp"

namespace kw {
namespace {

struct Build {
  IntBindings definitions;
  std::vector<PlannedLaunch> launches;
  BuildReply reply;

  [[nodiscard]] bool serves(const IntBindings& other, const std::vector<PlannedLaunch>& other_launches) const {
    return definitions == other &&
           std::equal(launches.begin(), launches.end(), other_launches.begin(), other_launches.end(), have_same_shape);
  }
};

Result<BuildReply> build_one(ExecutionBackend& backend, const Candidate& candidate, const Build& build,
                             AnswerDeadline deadline) {
  const Bundle& bundle = candidate.bundle;
  BuildRequest request{
      backend.device().id, guarded_source(bundle.source, bundle.target, build.definitions), {}, build.launches};
  request.definitions.assign(build.definitions.begin(), build.definitions.end());
  auto outcome = backend.build(request, deadline, candidate.origin);
  if (const auto* lost = std::get_if<LostWorker>(&outcome)) {
    return fail(errc::worker_failed, "the compiler did not finish: {}", lost->detail);
  }
  auto reply = std::get<BuildReply>(std::move(outcome));
  reply.log = without_guard(reply.log);
  return reply;
}

}  // namespace

Result<std::vector<BuiltWorkload>> build_workloads(const Problem& problem, const Candidate& candidate,
                                                   ExecutionBackend& backend, AnswerDeadline each) {
  const DeviceFacts& device = backend.device();
  if (const auto why = source_problem(candidate.bundle.source, candidate.bundle.target)) {
    return fail(errc::source_forbidden, "{}", *why);
  }
  std::vector<Build> builds;
  std::vector<BuiltWorkload> built;
  for (const auto& workload : problem.workloads) {
    auto plan = plan_launches(candidate, problem, workload.axes, device);
    if (!plan) return with_context(std::move(plan).error(), "planning workload " + workload.name);
    KW_TRY(auto definitions, build_definitions(candidate, workload.axes, device));
    auto found = std::find_if(builds.begin(), builds.end(),
                              [&](const Build& one) { return one.serves(definitions, plan->launches); });
    if (found == builds.end()) {
      Build fresh{std::move(definitions), plan->launches, {}};
      KW_TRY(fresh.reply, build_one(backend, candidate, fresh, each));
      found = builds.insert(builds.end(), std::move(fresh));
    }
    KW_TRY(auto tunables, resolve_tunables(candidate, workload.axes, device));
    built.push_back({workload.name, std::move(tunables), *std::move(plan), found->reply});
  }
  return built;
}

}  // namespace kw
