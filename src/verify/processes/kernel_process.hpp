#pragma once
// The real KernelProcess. Internal to process_backend.

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "verify/processes/arena.hpp"
#include "verify/processes/arena_pool.hpp"
#include "verify/processes/cache_flush.hpp"
#include "verify/processes/device_lock.hpp"
#include "verify/processes/execution_backend.hpp"
#include "verify/processes/worker_process.hpp"

namespace kw {

/// A run process whose driver is starting or has started, and its arena, which has no size yet or one from before.
struct RunProcess {
  Arena arena;
  WorkerProcess worker;
  std::string report_file = {};  ///< where the tool around it writes, in the process's directory; "" without tool
};

/// Where every plan of a request lies, and how large an arena that takes.
struct ArenaPlan {
  std::vector<ArenaLayout> layouts;
  std::int64_t bytes = 0;
};
[[nodiscard]] Result<ArenaPlan> plan_arena(const StartRequest& request);

/// What the host does around launches on a device; lives as long as the backend.
struct LaunchIsolation {
  CacheFlush flush;
  DeviceLock lock;
  DeviceLock::Kind launches = DeviceLock::Kind::alone;
  ArenaPool* arenas = nullptr;  ///< where that of a process goes when it has ended; null: away
};

/// Loads the candidate into the process. An arena without a size gets `plan.bytes`, or `arena_bytes` where that is
/// more. `number_kernels`: kernels with which the process fills buffers (number_kernels.hpp); "" where it does not.
[[nodiscard]] std::variant<std::unique_ptr<KernelProcess>, LaunchFailure, LostWorker> load_candidate(
    RunProcess process, const std::string& device_id, const StartRequest& request, const ArenaPlan& plan,
    LaunchIsolation& isolation, Duration deadline, std::int64_t arena_bytes = 0,
    const std::string& number_kernels = "");

}  // namespace kw
