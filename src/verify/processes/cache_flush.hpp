#pragma once
// Empties a CPU device's caches of a candidate's data before a cold launch. The host does it, not the process that runs
// the candidate: code that shares an address space with the flush could disarm it and be timed warm.
//
// All of a candidate's data lies in the arena, so its lines are thrown out by address (CLFLUSHOPT), from the caches of
// all cores: 0.7 ms for 8 MiB. To read more than a last-level cache holds took 524 ms where that has 480 MiB, and a
// read of them then took 0.68 ms instead of 0.58 (docs/results/2026-11-25-cache-flush.md). It is left for processors
// without the instruction and for data larger than that.

#include <cstddef>
#include <span>
#include <vector>

#include "hardware/device_facts.hpp"

namespace kw {

/// Whether this processor can throw lines out by address without waiting for each.
[[nodiscard]] bool can_flush_lines();

class CacheFlush {
 public:
  /// For other devices than a CPU it does nothing: their workers flush. `by_line`: by address, where that is less.
  explicit CacheFlush(const DeviceFacts& device, bool by_line = can_flush_lines());

  /// What a flush did, in bytes.
  struct Done {
    std::size_t thrown_out = 0;  ///< of `data`, by address
    std::size_t read = 0;        ///< on all cores together, of memory that nobody needs
  };

  /// Afterwards no cache holds any of `data`, which every process that maps these pages sees, and no core's own caches
  /// hold what was in them. Moves the calling thread from core to core and back.
  Done run(std::span<const std::byte> data);

 private:
  struct Core {
    int number = 0;
    bool first_of_its_cache = false;
  };
  bool by_line_ = false;
  std::size_t shared_bytes_ = 0;   ///< more than a last-level cache holds
  std::size_t private_bytes_ = 0;  ///< more than a core's own caches hold
  std::vector<Core> cores_;
  std::vector<std::byte> memory_;
};

}  // namespace kw
