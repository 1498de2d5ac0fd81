#pragma once
// The conditions of a run, for the record: what a reader of its numbers needs to judge them.

#include <string>
#include <utility>
#include <vector>

namespace kw {

/// Name and value: cpu model, kernel, load average, memory, and the environment variables known to change speed
/// (OPENBLAS_*, OMP_*, POCL_*), which workers never see.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> describe_environment();

/// "2026-11-20T09:00:00Z"
[[nodiscard]] std::string utc_now();

}  // namespace kw
