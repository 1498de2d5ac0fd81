#include "sandbox/exemption.hpp"

#include <array>
#include <string>

#include "base/text.hpp"

namespace kw {

struct ExemptionTable {
  static constexpr std::array<SandboxExemption, 11> k_rows{{
      {SandboxLayer::descriptors, "let-candidates-keep-descriptors",
       "Every file, socket and pipe the host has open when it starts a worker stays open in the worker. A candidate "
       "can "
       "write to the archive, talk on the host's connections and to other candidates' workers."},
      {SandboxLayer::environment, "let-candidates-read-environment",
       "The worker inherits the host's environment. A candidate can read API keys and other secrets in it, and stray "
       "settings such as OMP_NUM_THREADS change what is measured."},
      {SandboxLayer::limits, "let-candidates-use-unlimited-memory",
       "No resource limits: a candidate can exhaust address space, processor time, threads and file sizes. Where there "
       "is no cgroup either, one candidate can bring the machine down."},
      {SandboxLayer::capabilities, "let-candidates-keep-privileges",
       "Under root the worker stays root with every privilege: it can override file permissions, load modules, and "
       "undo other layers. No new privileges through setuid programs are refused either."},
      {SandboxLayer::landlock, "let-candidates-reach-files",
       "A candidate can read every file the user can read, such as private keys, and while it compiles also write "
       "and delete files. What it reads it can hand out in its results."},
      {SandboxLayer::system_calls, "let-candidates-use-all-system-calls",
       "The whole kernel interface is open: sockets, tracing of other processes, new namespaces, signals. Where there "
       "are no namespaces, a candidate can reach the network and read the memory of the user's other processes."},
      {SandboxLayer::namespaces, "let-candidates-see-processes-and-network",
       "The worker shares process ids, network and mounts with the host. It can see other processes, and fill the disk "
       "under its private directory; only the system-call filter and Landlock keep it from acting on them."},
      {SandboxLayer::cgroup, "let-candidates-exceed-memory",
       "Memory and threads are bounded per process by resource limits only. Under root the limit on threads has no "
       "effect, and a candidate with devices has no limit on memory at all."},
      {SandboxLayer::reaping, "let-candidates-leave-processes-behind",
       "Processes that a candidate started survive it. They go on using the processor while others are timed."},
      {SandboxLayer::tool_calls, "let-tools-call-local-sockets",
       "A process with a GPU may also connect to local sockets, until the worker locks itself down: compute-sanitizer "
       "and Nsight Compute talk so to what they load into the worker. A tool that a candidate's code has taken over "
       "can talk to every local service that the user can; where there are no namespaces, also to the user's "
       "desktop and container daemon."},
      {SandboxLayer::tool_paths, "let-tools-reach-files",
       "Landlock governs no paths in the process that is started, a tool that starts the worker; the worker restricts "
       "itself before it loads a candidate. A tool that a candidate's code has taken over can read what the user can "
       "read, and, where there are no namespaces, write it."},
  }};
};

std::span<const SandboxExemption> SandboxExemption::all() {
  return ExemptionTable::k_rows;
}

Result<SandboxExemption> SandboxExemption::from_token(std::string_view token) {
  for (const SandboxExemption& row : all()) {
    if (row.token() == token) return row;
  }
  const std::string known = join(all(), ", ", &SandboxExemption::token);
  Error error{errc::sandbox_token, fmt::format("\"{}\" is not a token that loosens the sandbox", token)};
  error.hint = "use one of " + known;
  return fail(std::move(error));
}

}  // namespace kw
