#pragma once
// Counts what warps of 32 lanes ask of memory, by NVIDIA's rules (CUDA C++ Programming Guide, "Device Memory Accesses"
// and "Shared Memory" of compute capability 5 and later):
//
//   global memory   a request touches sectors of 32 bytes. The least is what its distinct bytes would fill.
//   shared memory   32 banks of 4 bytes, a word of 4 bytes a bank and pass; lanes of the same word share it. Requests
//                   of 8 bytes a lane are served by half warps and of 16 by quarter warps, each in at least one pass.
//                   The passes beyond that are replays.
//
// The simulator runs lanes one after another, so what is one request has to be said: the n-th access of each lane at
// one instruction since the lanes of its warp were last together, at a barrier or at an operation of the whole warp.
// Where lanes go round a loop equally often between two such points, this is what a GPU does; where they do not, lanes
// of different rounds may be counted as one. Not a word about caches, nor about time.

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "device/sim/branch_counter.hpp"
#include "device/sim/runtime/abi.hpp"

namespace kw::sim {

/// An instruction, and what it does.
struct AccessSite {
  kw_sim::Place place = 0;
  bool shared = false;
  bool write = false;
  unsigned bytes = 0;  ///< of one lane: 1, 2, 4, 8 or 16
  friend auto operator<=>(const AccessSite&, const AccessSite&) = default;
};

struct AccessTotals {
  std::int64_t requests = 0, partial = 0, lanes = 0, transactions = 0, least = 0;
  AccessTotals& operator+=(const AccessTotals& other);
};

/// One request of a warp: of which lanes, and where each of them reads or writes.
struct LaneRequest {
  std::uint32_t lanes = 0;
  std::array<std::uint64_t, 32> address{};
};
/// Transactions of one request, and the least for its bytes.
struct RequestCost {
  std::int64_t transactions = 0, least = 0;
};
/// Sectors. Addresses count from the beginning of a buffer, which a GPU aligns to far more than a sector.
[[nodiscard]] RequestCost global_cost(const LaneRequest& request, unsigned bytes);
/// Passes over the banks. Addresses count from any multiple of 4.
[[nodiscard]] RequestCost shared_cost(const LaneRequest& request, unsigned bytes);

/// Of the blocks that one host thread simulates. Not thread-safe.
class AccessCounter {
 public:
  static constexpr unsigned k_lanes = 32;

  void begin_block(std::size_t threads);
  /// Thread `thread` of the block: an access of any length, longer ones in the pieces that its alignment allows.
  void access(unsigned thread, AccessSite site, std::uint64_t address, std::size_t bytes);
  /// Eight rows of 16 bytes for each matrix, in one request of a whole warp.
  void matrix_rows(kw_sim::Place place, std::span<const std::uint64_t> rows);
  /// All living lanes of the warp are at one point.
  void warp_is_together(std::size_t warp);
  /// All threads of the block are; and at its end.
  void block_is_together();

  /// Of the same blocks of threads.
  [[nodiscard]] BranchCounter& branches() { return branches_; }
  /// Since the last take(), by instruction.
  [[nodiscard]] std::map<AccessSite, AccessTotals> take();
  /// Accesses that are in no total, because too much was open at once.
  [[nodiscard]] std::int64_t uncounted() const { return uncounted_; }

 private:
  /// The requests of one instruction that still wait for lanes.
  struct Open {
    std::array<std::uint32_t, k_lanes> begun{};  ///< of each lane: how many requests it was part of
    std::deque<LaneRequest> requests;
    std::uint32_t settled = 0;  ///< requests before the first of `requests`
  };
  struct SiteHash {
    std::size_t operator()(const AccessSite& site) const;
  };
  struct Warp {
    std::uint32_t lanes = 0;  ///< that exist
    std::unordered_map<AccessSite, Open, SiteHash> sites;
  };

  void piece(Warp& warp, unsigned lane, const AccessSite& site, std::uint64_t address);
  void settle(const AccessSite& site, const LaneRequest& request, std::uint32_t all);

  BranchCounter branches_;
  std::vector<Warp> warps_;
  std::map<AccessSite, AccessTotals> totals_;
  std::size_t open_ = 0;
  std::int64_t uncounted_ = 0;
};

}  // namespace kw::sim
