#pragma once
// Binaries made ready to launch over the arena.

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "device/opencl/session.hpp"
#include "protocol/messages.hpp"

namespace kw::opencl {

struct ReadyLaunch {
  OwnedKernel kernel;  ///< with all arguments set
  std::size_t global[3] = {1, 1, 1};
  std::size_t local[3] = {1, 1, 1};
  std::size_t offset[3] = {0, 0, 0};  ///< of the first work-item, where not all groups run
};

/// The buffers of one plan. On a CPU each that is passed to a kernel is the arena's own memory, so that the guard zones
/// around it are real; on other devices one device buffer mirrors the plan's stretch of the arena, guards included, and
/// each is a part of it.
struct PlanBuffers {
  /// By the plan's order; null where it is passed to none. Plans that use the same memory of the arena share it.
  std::vector<std::shared_ptr<_cl_mem>> buffers;
  OwnedBuffer mirror{nullptr, nullptr};  ///< null on a CPU
  std::span<std::byte> mirrored;
  /// Inputs to announce to a device that tracks writes: the buffer's index and its memory.
  std::vector<std::pair<std::size_t, std::span<std::byte>>> announced;
};

struct ReadyPlan {
  PlanBuffers buffers;
  std::vector<ReadyLaunch> launches;
};

struct Loaded {
  std::vector<OwnedProgram> programs;
  std::vector<ReadyPlan> plans;
  bool in_process = false;  ///< the kernels are libraries of this process, and are loaded
};

/// Runs no candidate code. Drivers load a kernel's code at its first launch; PoCL's libraries are loaded here, after
/// object_policy.hpp has found nothing in them.
[[nodiscard]] Result<Loaded> load(const Session& session, const LoadRequest& request, std::span<std::byte> arena);

/// Uploads where the arena is mirrored, flushes when asked to, launches everything, waits, downloads. The time is from
/// before the first launch is queued until all are done: what a caller waits for.
[[nodiscard]] Result<LaunchReply> launch(const Session& session, const ReadyPlan& plan, bool cold);

}  // namespace kw::opencl
