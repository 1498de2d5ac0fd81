#pragma once
// Starts a program under limits, talks to it over one socket, and kills it with everything it started. Two profiles:
// *build* may execute the compiler's linker and no devices; *run* may read the drivers and use listed devices, and
// locks itself down further with lock_down() before candidate code is loaded.
//
// Layers, in the order they are applied to the child: own session and process group, parent-death signal, namespaces
// and cgroup where allowed, closed descriptors, scrubbed environment, rlimits, no_new_privs, Landlock (read-only system
// paths, one private writable directory), seccomp deny list. A path that does not exist is skipped by itself and never
// disables the rest.

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "sandbox/exemption.hpp"
#include "sandbox/tier.hpp"

namespace kw {

namespace errc {
inline constexpr ErrorCode sandbox_failed{"sandbox.failed", ExitClass::environment};
inline constexpr ErrorCode sandbox_tier{"sandbox.tier", ExitClass::environment};  ///< below the tier that was required
}  // namespace errc

enum class SandboxProfile : std::uint8_t { build, run };

struct SandboxLimits {
  std::int64_t memory_bytes = std::int64_t{4}
                              << 30;  ///< address space where no GPU driver needs more, and cgroup memory
  std::int64_t cpu_seconds = 600;
  std::int64_t processes = 64;  ///< threads count
  std::int64_t file_bytes = std::int64_t{256} << 20;
};

struct SandboxSpec {
  SandboxProfile profile = SandboxProfile::run;
  std::filesystem::path program;
  std::vector<std::string> arguments;
  SandboxLimits limits;
  /// What may be read in the place of all of /usr, /lib and /bin, from which nothing can be executed then; empty:
  /// those.
  std::vector<std::filesystem::path> system;
  std::vector<std::filesystem::path> readable;                   ///< beyond the profile's own list
  std::vector<std::filesystem::path> executable;                 ///< the same, and programs there may be executed
  std::vector<std::filesystem::path> devices;                    ///< device nodes, read-write
  std::vector<std::pair<std::string, std::string>> environment;  ///< the whole environment, besides PATH and TMPDIR
  std::vector<int> inherited;  ///< descriptors the child gets, at 4, 5, ... in this order; the socket is descriptor 3
  SandboxTier at_most = SandboxTier::c;   ///< for tests and for machines where a tier misbehaves
  std::vector<SandboxExemption> without;  ///< layers left out by name; each says what an attacker gains
};

/// How a child ended.
struct ExitReport {
  bool signalled = false;
  int code = 0;  ///< exit status, or the signal's number
  bool out_of_memory = false;
  [[nodiscard]] std::string to_string() const;
};

/// A running sandboxed process. Destruction kills the whole tree and removes its private directory.
class SandboxedProcess {
 public:
  virtual ~SandboxedProcess() = default;
  /// Sends one frame (4-byte length, payload). False when the process is gone.
  [[nodiscard]] virtual bool send(std::string_view payload) = 0;
  enum class Received : std::uint8_t { frame, closed, timed_out, oversized };
  /// Waits for one frame until the deadline has passed; never longer.
  virtual Received receive(std::string& payload, Duration deadline) = 0;
  /// Closes the host's end for sending, which a worker takes as the end of its work, and waits until the program has
  /// ended by itself; nothing when it has not by then. It cannot be talked to afterwards.
  virtual std::optional<ExitReport> finish(Duration deadline) = 0;
  /// SIGKILL to everything in it; then reaps. Idempotent.
  virtual ExitReport kill() = 0;
  [[nodiscard]] virtual pid_t pid() const = 0;
  /// User and system time that the program and what it started have had since it began, in steps of 10 ms; what left
  /// its session is not counted. Nothing when it has ended.
  [[nodiscard]] virtual std::optional<Duration> processor_time() const = 0;
  /// Its private writable directory, as the host sees it; valid while this object lives, and empty at the start. Where
  /// there is a mount namespace it is a file system of its own, limited to `file_bytes`, and this path leads into it by
  /// a descriptor; the child knows the directory as $TMPDIR. What lies in it is untrusted, symbolic links too.
  [[nodiscard]] virtual const std::filesystem::path& private_directory() const = 0;
  /// What it has printed on standard output and error so far, the first k_kept_output_bytes. Untrusted bytes.
  [[nodiscard]] virtual std::string output() const { return {}; }
};

inline constexpr std::size_t k_max_inherited = 60;
inline constexpr std::int64_t k_kept_output_bytes = std::int64_t{256} << 10;

/// Returns once the program has been executed; errc::sandbox_failed names the step that was refused. The child lives
/// until it ends, kill(), or the end of this process, whichever is first; the calling thread may end before it.
[[nodiscard]] Result<std::unique_ptr<SandboxedProcess>> spawn_sandboxed(const SandboxSpec& spec);

/// What a worker may still open for writing: nothing, or the existing files that Landlock grants it, which a GPU's
/// driver needs for its device nodes. The candidate of such a worker is code on the GPU, which makes no system calls.
enum class OpenForWriting : std::uint8_t { never, as_granted };

/// Called by the worker itself, after its driver is initialised and before candidate code runs: on all threads, no
/// more execve, sockets, opening files for writing, ptrace, signals to others, new namespaces. Cannot be undone.
[[nodiscard]] Result<void> lock_down(OpenForWriting open = OpenForWriting::never);

/// What is left to a worker whose candidate is code of this machine's own processor, loaded and not yet called.
struct KernelRights {
  int channel = -1;                  ///< its socket to the host
  std::span<const std::byte> arena;  ///< whole pages, which it may close and open
};

/// The same for such a worker, whose driver has its threads and which called keep_one_heap() (heap_reserve.hpp) before
/// there were any: malloc gets a reserve to live on, and there are no more threads, files, code or memory, nor any call
/// but those that a loaded kernel and its driver need, on the channel and the arena alone. Cannot be undone.
[[nodiscard]] Result<void> lock_down_for_kernels(const KernelRights& rights);

/// Called by the worker itself, first thing, when a tool has started it without the layer `tool_paths`: from here on
/// this thread, and every one it starts, reaches the paths of the profile and the spec's own, and no others. The
/// private directory is $TMPDIR, the program the running one. Cannot be undone; does nothing where there is no
/// Landlock.
[[nodiscard]] Result<void> restrict_own_paths(SandboxSpec spec);

/// Runs the hostile child (`worker_program --probe`) under the run profile and reports what was really stopped.
[[nodiscard]] Result<SandboxReport> probe_sandbox(const std::filesystem::path& worker_program,
                                                  SandboxTier at_most = SandboxTier::c);
/// What that child does; called from the worker's main with --probe. Writes its findings to descriptor 3.
int run_probe_child();

/// errc::sandbox_tier, naming what is missing, when the report is below `required`.
[[nodiscard]] Result<void> require_tier(const SandboxReport& report, SandboxTier required);

}  // namespace kw
