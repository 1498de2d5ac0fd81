#pragma once
// What a block keeps of its threads: each one's fiber and what it has under way, the lanes of a warp that wait for one
// another, and the barrier.

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "device/sim/fiber_switch.hpp"
#include "device/sim/products.hpp"
#include "device/sim/runtime/abi.hpp"
#include "device/sim/shadow.hpp"

namespace kw::sim {

/// Of a block, on every GPU there is.
inline constexpr unsigned k_max_threads = 1024;

/// The page between two stacks.
inline constexpr std::size_t k_stack_guard_bytes = 4096;

/// Memory for the fibers' stacks, with a page between them that nothing may touch.
struct StackArea {
  std::byte* begin = nullptr;
  std::size_t stack_bytes = 0;  ///< per fiber, the guard page included
};

/// An asynchronous copy that has been asked for and not waited for.
struct PendingCopy {
  std::byte* shared = nullptr;
  std::array<std::byte, 16> data{};
  unsigned bytes = 0;
  int line = 0;
  std::uint64_t group = 0;
};

enum class ThreadState : std::uint8_t { ready, at_barrier, in_warp_op, done };

struct SimThread {
  FiberContext fiber;
  kw_sim::Coordinates index{};
  unsigned number = 0;
  unsigned warp = 0;
  unsigned lane = 0;
  ThreadState state = ThreadState::ready;
  int line = 0;  ///< where it waits
  int vote = 0;  ///< what a barrier with a vote gave
  std::vector<PendingCopy> copies;
  std::uint64_t copy_group = 0;
  PendingProducts products;
  std::uint32_t fenced = 0;             ///< its accesses up to this step of its clock stand before a fence
  std::vector<std::uint32_t> acquired;  ///< of all threads: the steps it is ordered after by an atomic access; or empty
};

/// What threads of a block publish to each other without a barrier: accesses, a fence, then an atomic access, which
/// orders them before whoever makes an atomic access later. By step of each thread's clock; 0 is nothing.
struct Releases {
  std::vector<std::uint32_t> steps;
  bool any = false;
};

/// Lanes that have come to the same operation with the same mask, or to the same call of one that has none.
struct PendingWarpOp {
  kw_sim::WarpOp op{};
  bool unmasked = false;
  std::uint64_t mask = 0;
  const void* from = nullptr;  ///< the call
  int line = 0;                ///< its line
  std::uint64_t arrived = 0;
  std::array<kw_sim::WarpRequest*, k_max_lanes> requests{};

  [[nodiscard]] bool takes(const kw_sim::WarpRequest& request, unsigned lane) const;
  /// Whether all lanes have come that it waits for; `live` are those that have not ended.
  [[nodiscard]] bool is_complete(std::uint64_t live) const { return arrived == (unmasked ? live : mask & live); }
};

struct SimWarp {
  std::uint64_t live = 0;  ///< lanes that exist and have not ended
  unsigned ready = 0;      ///< lanes that wait for nobody
  WarpClocks clocks;
  std::vector<PendingWarpOp> pending;
};

struct SimBarrier {
  unsigned waiting = 0;
  int line = 0;
  int count = 0;  ///< true predicates
  bool divergent = false;
};

}  // namespace kw::sim
