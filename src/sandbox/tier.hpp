#pragma once
// What the sandbox really enforces on this machine, found by a hostile child (probe.hpp), never inferred from return
// codes. Recorded in every result.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kw {

/// Each tier contains the ones before it. Stored in archives: never renumber.
enum class SandboxTier : std::uint8_t {
  none = 0,
  a = 1,  ///< process group, scrubbed environment, closed descriptors, rlimits, no_new_privs, seccomp, Landlock
  b = 2,  ///< and user, pid, net, ipc, uts and mount namespaces
  c = 3,  ///< and a cgroup with memory and pids limits
};
/// "none", "a", "b" or "c", as written on the command line and in archives.
[[nodiscard]] std::string_view to_string(SandboxTier tier);

/// One thing the hostile child tried.
struct ProbeResult {
  std::string attempt;  ///< "open a TCP socket"
  bool stopped = false;
  std::string detail;  ///< "EPERM", or what it managed to do
};

struct SandboxReport {
  SandboxTier tier = SandboxTier::none;
  std::vector<ProbeResult> probes;
  std::vector<std::string> missing;  ///< what keeps the next tier away, and what to do about it
};

}  // namespace kw
