#pragma once
// Counts the branches at which warps of 32 lanes part. The compiler announces every basic block that a lane enters; a
// block that was left for several others is a branch. The simulator runs lanes one after another, so what one execution
// of a branch is has to be said, as for requests (access_counter.hpp): the n-th time that each lane leaves the block
// since the lanes of its warp were last together. Lanes that then go to different blocks have parted: at a condition,
// or in a loop that some of them leave earlier.

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "device/sim/runtime/abi.hpp"

namespace kw::sim {

struct BranchTotals {
  std::int64_t executed = 0;  ///< by warps
  std::int64_t parted = 0;    ///< of these, those at which lanes went different ways
  std::int64_t lanes = 0;     ///< that took part, of all executions together
};

/// Of the blocks that one host thread simulates. Not thread-safe.
class BranchCounter {
 public:
  static constexpr unsigned k_lanes = 32;

  /// `is_ours` says which basic blocks are no part of a kernel, but of what stands for an instruction of a GPU; they
  /// are passed over. It is asked once for each.
  void leave_out(std::function<bool(kw_sim::Place)> is_ours) { is_ours_ = std::move(is_ours); }

  void begin_block(std::size_t threads);
  /// Thread `thread` of the block of threads enters a basic block of the code.
  void entered(unsigned thread, kw_sim::Place block);
  /// All living lanes of the warp are at one point.
  void warp_is_together(std::size_t warp);

  /// Since the last take(), by the basic block at whose end the branch is.
  [[nodiscard]] std::map<kw_sim::Place, BranchTotals> take();

 private:
  /// One execution, of the lanes that came to it so far.
  struct Exit {
    std::uint32_t lanes = 0;
    kw_sim::Place to = 0;  ///< of the first of them
    bool parted = false;
  };
  struct Open {
    std::array<std::uint32_t, k_lanes> begun{};  ///< of each lane: how often it left the block
    std::deque<Exit> exits;
    std::uint32_t settled = 0;  ///< executions before the first of `exits`
  };
  struct Warp {
    std::uint32_t lanes = 0;  ///< that exist
    std::unordered_map<kw_sim::Place, Open> blocks;
  };
  struct Known {
    BranchTotals totals;
    kw_sim::Place to = 0;    ///< the first block that it was left for
    bool is_branch = false;  ///< and there were others
  };

  [[nodiscard]] bool is_left_out(kw_sim::Place block);
  static void settle(const Exit& exit, BranchTotals& totals);

  std::function<bool(kw_sim::Place)> is_ours_;
  std::unordered_map<kw_sim::Place, bool> ours_;  ///< what it said
  std::vector<Warp> warps_;
  std::vector<kw_sim::Place> in_;  ///< of each thread: the basic block that it is in; 0: none yet
  std::map<kw_sim::Place, Known> known_;
  std::size_t open_ = 0;
};

}  // namespace kw::sim
