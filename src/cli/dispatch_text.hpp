#pragma once
// Which rows of a bundle's dispatch table the workloads take, as commands print it.

#include <string>
#include <vector>

#include "base/result.hpp"
#include "problem/problem.hpp"
#include "record/dispatch.hpp"

namespace kw {

struct NamedTunables {
  std::string workload;
  ResolvedTunables tunables;
};

/// Of every workload of the problem, the primary first.
[[nodiscard]] Result<std::vector<NamedTunables>> resolve_workloads(const Candidate& candidate, const Problem& problem,
                                                                   const DeviceFacts& device);

/// One line for each workload, after an empty one; nothing where the bundle has no table.
[[nodiscard]] std::string rows_text(const Bundle& bundle, const std::vector<NamedTunables>& workloads);

}  // namespace kw
