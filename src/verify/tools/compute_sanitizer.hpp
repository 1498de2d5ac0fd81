#pragma once
// compute-sanitizer as sanitizer: memcheck, racecheck and synccheck, each around a run process of its own, on the GPU
// itself and with the binaries that were checked and timed. initcheck is left out: the host writes every buffer before
// every launch, so it would have nothing to find; stale values are found by what the buffers are poisoned with.
//
// Whether something was found is told by the tool's exit status. The text only says what; a kernel can't write into it,
// because it goes to a file, while what a kernel prints goes to the process's output.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "verify/processes/process_backend.hpp"
#include "verify/tools/sanitizer.hpp"

namespace kw {

/// The first finding in a report, on one line of printable characters: "Invalid __global__ write of size 4 bytes; at
/// k+0x90 in kernel.cu:11; ...". Nothing when there is none. `report` is untrusted.
[[nodiscard]] std::optional<std::string> first_tool_finding(const std::string& report);

/// One of the tools, and what runs under it.
struct SanitizerPass {
  std::string tool;
  std::unique_ptr<ExecutionBackend> backend;
};
[[nodiscard]] std::unique_ptr<Sanitizer> compute_sanitizer_over(const std::string& version,
                                                                std::vector<SanitizerPass> passes);

/// For the CUDA device of `backend`, which was opened with `options`. errc::gpu_tool when it is not installed, or does
/// not find a planted mistake here.
[[nodiscard]] Result<std::unique_ptr<Sanitizer>> open_compute_sanitizer(const BackendOptions& options,
                                                                        ExecutionBackend& backend);

}  // namespace kw
