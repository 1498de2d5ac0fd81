#pragma once
// Memory of run processes that have ended, for those to come. The system maps each page of new memory by a fault of its
// own, in the host and in the process: 0.25 s for 335 MB (H200, 2026-11-25), more than loading a candidate takes.
//
// Only for GPUs. There a candidate sees no more of it than the buffers of its plan, which are written before each
// launch; code of this machine's own processor would see what an earlier candidate has answered.

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "verify/processes/arena.hpp"

namespace kw {

/// Thread-safe.
class ArenaPool {
 public:
  /// Keeps as many as have room in `most_bytes` together.
  explicit ArenaPool(std::int64_t most_bytes) : most_bytes_(most_bytes) {}

  /// An arena that has a size, and whose process is gone.
  void put(Arena arena);
  /// One of at least `least_bytes`, with its size; nothing where there is none.
  [[nodiscard]] std::optional<Arena> take(std::int64_t least_bytes);

 private:
  std::int64_t most_bytes_;
  std::mutex mutex_;
  std::vector<Arena> arenas_;
};

}  // namespace kw
