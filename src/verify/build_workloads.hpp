#pragma once
// Compiling a candidate and nothing more: for devices that are not here, and for looking at what a compiler reports.

#include <string>
#include <vector>

#include "base/result.hpp"
#include "record/dispatch.hpp"
#include "verify/processes/execution_backend.hpp"

namespace kw {

struct BuiltWorkload {
  std::string name;
  ResolvedTunables tunables;  ///< and the dispatch row they come from
  LaunchPlan plan;
  BuildReply reply;  ///< a refusal by the compiler is in its status and log
};

/// Plans and builds every workload of the problem, the primary first; workloads with equal definitions and launches of
/// equal shape share one build, which has the deadline `each`. Errors: a plan that is not valid, a source that includes
/// files, a compiler process that was lost (errc::worker_failed).
[[nodiscard]] Result<std::vector<BuiltWorkload>> build_workloads(const Problem& problem, const Candidate& candidate,
                                                                 ExecutionBackend& backend, AnswerDeadline each);

}  // namespace kw
