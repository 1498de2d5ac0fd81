#pragma once
// Whether a tool works on this device: found out by having it watch a kernel whose mistakes are known.

#include <string>

#include "base/result.hpp"
#include "verify/processes/execution_backend.hpp"
#include "verify/processes/gpu_tool.hpp"

namespace kw {

namespace errc {
inline constexpr ErrorCode gpu_tool{"verify.gpu_tool", ExitClass::environment};  ///< missing, or does not work here
}  // namespace errc

/// "2025.3.1.0", as the program says when it is asked, under the sandbox; "" when it says nothing of the kind.
[[nodiscard]] std::string gpu_tool_version(const std::filesystem::path& program);

/// The version in what such a program prints: the word after "Version ". "" without one; at most 30 characters.
[[nodiscard]] std::string version_in(std::string_view text);

/// Builds a kernel with `backend` that writes one int behind its buffer, launches it once with `watched`, which has a
/// tool around its processes, and gives the tool's report. errc::gpu_tool when it does not come to that; what the tool
/// reports is the caller's to judge.
[[nodiscard]] Result<ToolReport> launch_planted_mistake(ExecutionBackend& backend, ExecutionBackend& watched);

}  // namespace kw
