#pragma once
// What the verifier needs from the world: something that builds candidates and something that runs a built one in a
// process of its own. ProcessBackend (process_backend.hpp) is the real one, sandboxed worker processes over a
// shared arena; FakeBackend (tests) is scripted, so that gates and loop are tested with no device and no processes.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "hardware/device_facts.hpp"
#include "protocol/messages.hpp"
#include "record/launch_plan.hpp"
#include "sandbox/tier.hpp"

namespace kw {

namespace errc {
inline constexpr ErrorCode worker_missing{"worker.missing", ExitClass::environment};
inline constexpr ErrorCode worker_failed{"worker.failed", ExitClass::environment};  ///< broke before any candidate ran
inline constexpr ErrorCode device_missing{"device.missing", ExitClass::environment};
}  // namespace errc

/// How a process that was running or compiling a candidate ended, when it did not answer.
enum class WorkerLoss : std::uint8_t {
  not_started,    ///< could not be started at all: no candidate's fault
  crashed,        ///< a signal, or an exit nobody asked for
  timed_out,      ///< past its deadline; killed
  starved,        ///< the machine was too busy to give it the processor time it may have; killed. Nobody's fault
  out_of_memory,  ///< over the sandbox's memory limit
};
struct LostWorker {
  WorkerLoss how = WorkerLoss::crashed;
  std::string detail;  ///< "signal 11 (Segmentation fault)"
};

/// When a worker that does not answer is given up. On a busy machine wall clock says little of what is asked, so it may
/// have its `processor` time as long as that takes, but `wall` at most.
struct AnswerDeadline {
  /// By wall clock alone.
  AnswerDeadline(Duration only_wall) : processor(only_wall), wall(only_wall) {}  // NOLINT: any duration is a deadline
  AnswerDeadline(Duration most_processor, Duration most_wall) : processor(most_processor), wall(most_wall) {}

  Duration processor;  ///< user and system time of all it does; never ends a wait sooner than as much wall clock
  Duration wall;
};

/// One launch of a whole plan in a candidate's process.
struct LaunchOutcome {
  std::int64_t claimed_ns = 0;   ///< as the candidate's own process measured it: a claim
  std::int64_t observed_ns = 0;  ///< the host's clock around the request: an upper bound that cannot be tampered with
  std::int64_t flush_ns = 0;     ///< what emptying the host's caches took before that
  std::vector<AccessCounts> accesses = {};  ///< as the process reported them, where StartRequest asks for it: claims
  std::int64_t uncounted_accesses = 0;
  std::vector<std::int64_t> changed = {};     ///< buffers that were filled with normal numbers and hold others: a claim
  std::vector<UselessElements> useless = {};  ///< of buffers that were to be counted: a claim
  bool queued_ahead = false;                  ///< as LaunchReply has it: a claim
};

/// A device fills buffers of at least this many bytes, and the host copies the others: a launch of a kernel takes
/// longer than a short copy.
inline constexpr std::int64_t k_least_filled_bytes = std::int64_t{4} << 20;

/// Buffers that the device fills before a launch, and what of them is brought back or counted, as LaunchRequest has it.
struct LaunchFilling {
  std::vector<BufferFill> fills;
  std::vector<BufferPart> returned;
  std::vector<std::int64_t> counted = {};
};

/// What a tool that watches a process has said, and how it ended.
struct ToolReport {
  std::optional<int> exit_status;  ///< of the tool; nothing while it runs, and when it had to be killed
  std::string text;                ///< what it has written so far, bounded. Untrusted
};

/// A fresh process holding one built candidate and its buffers. Killed on destruction, with everything it started.
class KernelProcess {
 public:
  virtual ~KernelProcess() = default;

  /// Chooses the plan (index into StartRequest::plans) that the next calls use; its buffers are laid out in the arena
  /// with guard zones of poison between them. A buffer holds anything until the host has written it: filling a
  /// gigabyte twice takes a second. The selected plan once more: nothing changes.
  virtual Result<void> select(std::size_t plan) = 0;
  /// The bytes of a buffer of the selected plan, shared with the process. The host writes inputs and poison here and
  /// reads outputs; the process may have written anything anywhere, at any time: copy, then check.
  [[nodiscard]] virtual std::span<std::byte> buffer(std::size_t index) = 0;
  /// The guard zones around the buffers of the selected plan, in address order.
  [[nodiscard]] virtual std::vector<std::span<std::byte>> guards() = 0;
  /// What the process and its driver have written to their output so far, bounded; a sanitizing driver reports here.
  /// Untrusted text.
  [[nodiscard]] virtual std::string output() const { return {}; }
  /// What the tool around this process says; nothing in it where there is none.
  [[nodiscard]] virtual ToolReport tool_report() const { return {}; }
  /// Lets process and tool end by themselves, no longer than `deadline`, and gives the whole report. The last call.
  virtual ToolReport finish(Duration deadline) {
    static_cast<void>(deadline);
    return {};
  }
  /// Uploads, launches everything in order, waits, downloads. `cold` flushes the caches first, outside the clock.
  virtual std::variant<LaunchOutcome, LaunchFailure, LostWorker> launch(bool cold, Duration deadline) = 0;
  /// Whether launch_filled() may be called: whether the device fills buffers with patterns and normal numbers.
  [[nodiscard]] virtual bool fills_buffers() const { return false; }
  /// The same launch, but the device fills those buffers, and only the parts that are named come back.
  virtual std::variant<LaunchOutcome, LaunchFailure, LostWorker> launch_filled(const LaunchFilling& filling, bool cold,
                                                                               Duration deadline) {
    static_cast<void>(filling), static_cast<void>(cold), static_cast<void>(deadline);
    return LaunchFailure{"this process fills no buffers"};
  }
};

struct BuiltPlan {
  LaunchPlan plan;
  std::size_t binary = 0;  ///< index into StartRequest::binaries
};
struct StartRequest {
  std::vector<std::string> binaries;
  std::vector<BuiltPlan> plans;  ///< one per workload; the arena is sized for the largest
  Inspection inspection = Inspection::done;
  Counting counting = Counting::none;
};

class ExecutionBackend {
 public:
  virtual ~ExecutionBackend() = default;
  [[nodiscard]] virtual const DeviceFacts& device() const = 0;
  /// What the sandbox was probed to enforce; recorded with every result.
  [[nodiscard]] virtual const SandboxReport& sandbox() const = 0;
  /// Compiles in a persistent build process; a lost one is replaced before the next call. May be called from several
  /// threads at once. The deadline is for all that is tried. May answer with what an earlier run built; keeps
  /// for later ones what becomes of sources whose `origin` is this program.
  virtual std::variant<BuildReply, LostWorker> build(const BuildRequest& request, AnswerDeadline deadline,
                                                     SourceOrigin origin) = 0;
  /// How many builds were answered by what was kept, by earlier runs or by this one.
  [[nodiscard]] virtual std::int64_t builds_found() const { return 0; }
  /// A fresh run process with the binaries loaded.
  virtual std::variant<std::unique_ptr<KernelProcess>, LaunchFailure, LostWorker> start(const StartRequest& request,
                                                                                        Duration deadline) = 0;
  /// Starts what the next start() will need, and does not wait for it.
  virtual void prepare() {}
  /// So many calls of start() are still to come, at most; nothing: nobody knows. Processes that wait for more are
  /// ended, which takes a GPU's a tenth of a second each and is not waited for.
  virtual void expect(std::optional<int> starts) { static_cast<void>(starts); }
  /// Of a simulating device: the same one, which takes the same binaries, without the checks it cannot make on every
  /// kernel. Null where there are none.
  [[nodiscard]] virtual ExecutionBackend* with_fewer_checks() { return nullptr; }
};

}  // namespace kw
