#pragma once
// The memory a simulated kernel may touch: the plan's buffers, a block's shared memory, the variables of its own code.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "device/sim/shadow.hpp"
#include "protocol/messages.hpp"

namespace kw::sim {

/// Host threads that simulate at the same time; each has epochs of its own (Block).
inline constexpr unsigned k_max_runners = 4;

/// A buffer of the plan, in the arena. Only what kernels may write has shadow cells, one per `granule` bytes.
struct GlobalBuffer {
  std::string name;
  std::byte* begin = nullptr;
  std::size_t bytes = 0;
  std::size_t granule = 1;
  std::unique_ptr<Cell[]> cells;  ///< null for inputs

  [[nodiscard]] bool holds(const std::byte* address) const {
    return address >= begin && address < begin + bytes;  // NOLINT: may be any address
  }
};

/// What is ordered between blocks of one launch. A block that fences and then makes an atomic access releases what it
/// did before the fence; a block that has made an atomic access itself since is ordered after that. Coarser than the
/// real rule, so that it can miss a race and never invents one.
struct LaunchOrder {
  std::array<std::uint32_t, k_max_runners> first_epoch{};  ///< of the launch; written between launches
  std::array<std::atomic<std::uint32_t>, k_max_runners> released{};
};

class GlobalMemory {
 public:
  GlobalMemory(const LoadedPlan& plan, std::span<std::byte> arena);

  /// The buffer that `address` lies in, null when in none.
  [[nodiscard]] const GlobalBuffer* find(const std::byte* address) const;
  /// Its place among the buffers, from 0.
  [[nodiscard]] std::size_t index_of(const GlobalBuffer& buffer) const {
    return static_cast<std::size_t>(&buffer - buffers_.data());
  }
  /// "4 bytes behind the end of O": for people, about an address in no buffer.
  [[nodiscard]] std::string describe(const std::byte* address) const;

  LaunchOrder order;

 private:
  std::vector<GlobalBuffer> buffers_;  ///< by address
};

/// The stretch of a host thread's memory that holds a block's shared variables. Static variables come anywhere in
/// it; dynamic shared memory is [dynamic, dynamic + dynamic_bytes), of which the launch gets the first bytes.
struct SharedRegion {
  std::byte* begin = nullptr;
  std::size_t bytes = 0;
  std::byte* dynamic = nullptr;
  std::size_t dynamic_bytes = 0;
  std::size_t granted_bytes = 0;  ///< of the dynamic part

  [[nodiscard]] bool holds(const std::byte* address) const {
    return address >= begin && address < begin + bytes;  // NOLINT: may be any address
  }
  /// Whether [address, address + size) may be used by the launch.
  [[nodiscard]] bool grants(const std::byte* address, std::size_t size) const;
};

}  // namespace kw::sim
