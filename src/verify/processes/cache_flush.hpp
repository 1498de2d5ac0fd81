#pragma once
// Empties a CPU device's caches before a cold launch. The host does it, not the process that runs the candidate: code
// that shares an address space with the flush could disarm it and be timed warm.

#include <cstddef>
#include <vector>

#include "hardware/device_facts.hpp"

namespace kw {

class CacheFlush {
 public:
  /// For other devices than a CPU it does nothing: their workers flush.
  explicit CacheFlush(const DeviceFacts& device);

  /// Reads more than the caches hold: once per last-level cache, and as much as a private cache on every other core.
  /// Moves the calling thread from core to core and back; takes about 5 ms for 32 MiB.
  void run();

 private:
  struct Core {
    int number = 0;
    bool first_of_its_cache = false;
  };
  std::size_t shared_bytes_ = 0;
  std::size_t private_bytes_ = 0;
  std::vector<Core> cores_;
  std::vector<std::byte> memory_;
};

}  // namespace kw
