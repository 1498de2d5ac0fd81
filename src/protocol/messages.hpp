#pragma once
// Messages between host and worker, over one socket pair, and their encoding. A frame is a 4-byte little-endian length
// (at most 64 MiB) and that many bytes: one byte message kind, then fields in declared order, integers as 8-byte
// little-endian, strings and lists with an 8-byte count in front. The worker is hostile once it has loaded a candidate:
// the decoder trusts nothing, is bounded in memory by the frame's length, and is fuzzed (fuzz/protocol_fuzz.cpp).
// Tensor data never travels here; it lies in a shared memory arena whose descriptor the worker inherits.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/random_tensor.hpp"
#include "base/result.hpp"
#include "hardware/device_facts.hpp"
#include "record/access_counts.hpp"
#include "record/instruction_mix.hpp"
#include "record/launch_plan.hpp"

namespace kw {

namespace errc {
inline constexpr ErrorCode protocol_malformed{"protocol.malformed", ExitClass::internal};
}  // namespace errc

// ---- host to worker

/// Asks for the facts of one device; `device_id` as DeviceFacts::id, or "" for a list of all.
struct DescribeRequest {
  std::string device_id;
};
/// Compile `source` for the device. `kernels` and `blocks` let the compiler specialise for the planned block sizes.
/// Whether what a compiler makes for this machine's own processor is looked through before it is loaded. `left_out` is
/// for tests of what stands behind that: the sandbox has to stop the same code.
enum class Inspection : std::uint8_t { done = 1, left_out = 2 };
/// Whether a simulator counts what warps ask of memory. It takes other machine code, and several times as long.
enum class Counting : std::uint8_t { none = 1, accesses = 2 };
struct BuildRequest {
  std::string device_id;
  std::string source;
  std::vector<std::pair<std::string, std::int64_t>> definitions;
  std::vector<PlannedLaunch> launches;  ///< kernels that must exist, their argument kinds and block sizes
  Inspection inspection = Inspection::done;
  Counting counting = Counting::none;
};
/// Where one buffer of a plan lies in the arena, in bytes.
struct ArenaSlot {
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
};
struct LoadedPlan {
  std::int64_t binary = 0;
  LaunchPlan plan;
  std::vector<ArenaSlot> slots;  ///< one per plan.buffers
};
/// Loads binaries for the plans; after the reply the worker has given up exec, sockets and opening files.
struct LoadRequest {
  std::string device_id;
  std::int64_t arena_bytes = 0;
  std::vector<std::string> binaries;
  std::vector<LoadedPlan> plans;
  Inspection inspection = Inspection::done;
  Counting counting = Counting::none;
  std::string number_kernels =
      {};  ///< kernels of the host's own, for BufferFilling::random; "" where none is asked for
};
/// What a device fills a buffer with before a launch, where the host does not upload it.
enum class BufferFilling : std::uint8_t {
  pattern = 1,  ///< the low 32 bits of `pattern`, again and again; the buffer is a multiple of 4 bytes long
  random = 2,   ///< the elements of `tensor`, rounded to the buffer's type
};
struct BufferFill {
  std::int64_t buffer = 0;  ///< index into the plan's
  BufferFilling with = BufferFilling::pattern;
  std::int64_t pattern = 0;
  RandomTensor tensor = {};
  /// `random`: the first element of each row is not the tensor's. Those of all rows, as the buffer's type stores them,
  /// lie one behind the other where the buffer begins in the arena.
  bool has_firsts = false;
  friend bool operator==(const BufferFill&, const BufferFill&) = default;
};
/// Some bytes of a buffer.
struct BufferPart {
  std::int64_t buffer = 0;
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  friend bool operator==(const BufferPart&, const BufferPart&) = default;
};
/// How much of a buffer that was filled with a pattern is no answer after a launch.
struct UselessElements {
  std::int64_t buffer = 0;
  std::int64_t unwritten = 0;  ///< hold the pattern
  std::int64_t nans = 0;       ///< are none, which a pattern may be
  friend bool operator==(const UselessElements&, const UselessElements&) = default;
};
/// `cold` asks for a flush of the device's own caches, outside the clock. On a CPU it does nothing: there the host
/// flushes (verify/processes/cache_flush.hpp), since the candidate could have disarmed whatever runs in its own
/// process.
struct LaunchRequest {
  std::int64_t plan = 0;
  bool cold = false;
  /// Each buffer once at most. All others are taken from the arena, and brought back into it afterwards, as guard zones
  /// are in any case. A device that cannot do it refuses the launch.
  std::vector<BufferFill> fills = {};
  std::vector<BufferPart> returned = {};   ///< of the filled buffers, what is brought back
  std::vector<std::int64_t> counted = {};  ///< buffers filled with a pattern, of floats, whose useless elements count
};
using HostMessage = std::variant<DescribeRequest, BuildRequest, LoadRequest, LaunchRequest>;

// ---- worker to host

struct DescribeReply {
  std::vector<DeviceFacts> devices;
  std::string problem;  ///< why there are none, and what to install
};
/// Stored nowhere; the verifier turns it into a Reason.
enum class BuildStatus : std::uint8_t {
  ok = 1,
  source_error = 2,
  kernel_missing = 3,
  kernel_args = 4,
  resource = 5,
  forbidden = 6,  ///< it compiles, to something that candidates may not hold
};
/// What the compiler made of one launched kernel; absent figures were not reported.
struct KernelReport {
  std::string kernel;
  std::optional<std::int64_t> registers;     ///< per thread
  std::optional<std::int64_t> spill_bytes;   ///< stored and loaded, per thread
  std::optional<std::int64_t> stack_bytes;   ///< per thread
  std::optional<std::int64_t> shared_bytes;  ///< per block, declared and dynamic
  std::optional<std::int64_t> instructions;
  std::optional<std::int64_t> tensor_core_instructions;
  std::optional<std::int64_t> local_memory_instructions;  ///< loads and stores
  std::optional<std::int64_t> blocks_per_unit;            ///< resident at a time, with the planned block
  std::optional<double> occupancy;                        ///< resident warps over the most there can be, 0 to 1
};
struct BuildReply {
  BuildStatus status = BuildStatus::ok;
  std::string log;     ///< at most 64 KiB
  std::string binary;  ///< opaque to the host; may depend on driver and device
  std::int64_t build_ns = 0;
  std::int64_t registers = -1, spill_bytes = -1, stack_bytes = -1, shared_bytes = -1;  ///< -1 on the wire: not reported
  std::vector<KernelReport> kernels;  ///< one per launch, in order; empty where the compiler reports nothing of them
  std::vector<InstructionMix> machine_code;  ///< as BuildReport has it; at most k_max_machine_code of them
};
struct LoadReply {};
struct LaunchReply {
  std::int64_t claimed_ns = 0;
  /// Of the buffers that were filled with a random tensor, those that hold something else after the launch.
  std::vector<std::int64_t> changed = {};
  std::vector<UselessElements> useless = {};  ///< of those that were to be counted, in their order
  std::vector<AccessCounts> accesses = {};    ///< of this launch, where counting was asked for; k_max_access_lines
  std::int64_t uncounted_accesses = 0;
  /// The device had all launches of the plan in its queue before the first one began, and the time is by its own clock:
  /// a host that loses its processors in between lengthens nothing.
  bool queued_ahead = false;
};
/// The runtime refused something: a plan, a buffer, a launch. Also the answer to a LoadRequest that fails.
struct LaunchFailure {
  std::string what;
};
using WorkerMessage = std::variant<DescribeReply, BuildReply, LoadReply, LaunchReply, LaunchFailure>;

/// The frame's payload, without the length.
[[nodiscard]] std::string encode(const HostMessage& message);
[[nodiscard]] std::string encode(const WorkerMessage& message);
[[nodiscard]] Result<HostMessage> decode_host_message(std::string_view payload);
[[nodiscard]] Result<WorkerMessage> decode_worker_message(std::string_view payload);

inline constexpr std::int64_t k_max_frame_bytes = std::int64_t{64} << 20;
/// The build log is cut to this, in the worker and again in the host.
inline constexpr std::size_t k_max_log_bytes = std::size_t{64} << 10;
/// Of one build, and of the functions that each of them calls.
inline constexpr std::size_t k_max_machine_code = 32;
/// A worker that cannot allocate exits with this, so that the host can tell it from a crash. A candidate may fake it
/// and gains nothing: either way it is rejected.
inline constexpr int k_exit_out_of_memory = 77;

}  // namespace kw
