#pragma once
// Nsight Compute as profiler: what the GPU counts in one launch of a kernel. Needs a permission that the driver gives
// to administrators alone unless it was configured otherwise.

#include <memory>
#include <string>

#include "base/result.hpp"
#include "verify/processes/process_backend.hpp"
#include "verify/tools/profiler.hpp"

namespace kw {

/// For the CUDA device of `backend`, which was opened with `options`. errc::gpu_tool when it is not installed; whether
/// it works shows when it is used.
[[nodiscard]] Result<std::unique_ptr<Profiler>> open_nsight_compute(const BackendOptions& options,
                                                                    const ExecutionBackend& backend);

/// Tries it on a kernel: its version when it counts, errc::gpu_tool with the reason when it does not.
[[nodiscard]] Result<std::string> try_nsight_compute(const BackendOptions& options, ExecutionBackend& backend);

}  // namespace kw
