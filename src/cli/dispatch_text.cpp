#include "cli/dispatch_text.hpp"

namespace kw {

Result<std::vector<NamedTunables>> resolve_workloads(const Candidate& candidate, const Problem& problem,
                                                     const DeviceFacts& device) {
  std::vector<NamedTunables> all;
  for (const auto& workload : problem.workloads) {
    auto resolved = resolve_tunables(candidate, workload.axes, device);
    if (!resolved) return with_context(std::move(resolved).error(), "choosing tunables of workload " + workload.name);
    all.push_back({workload.name, *std::move(resolved)});
  }
  return all;
}

std::string rows_text(const Bundle& bundle, const std::vector<NamedTunables>& workloads) {
  if (bundle.dispatch.empty()) return "";
  std::string text = fmt::format("\n{:<22} {:<36} {}\n", "workload", "dispatch", "tunables");
  for (const auto& [workload, tunables] : workloads) {
    std::string values;
    for (const auto& [name, value] : tunables.values) values += fmt::format(" {}={}", name, value);
    text +=
        fmt::format("{:<22} {:<36}{}\n", workload, tunables.row ? row_label(bundle, *tunables.row) : "no row", values);
  }
  return text;
}

}  // namespace kw
