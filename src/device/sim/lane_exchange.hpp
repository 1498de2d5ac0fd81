#pragma once
// What a warp's operation gives each of its lanes, where that depends on their requests alone. Every function takes an
// operation to which all its lanes have come, and writes to their `out`.

#include <cstdint>

#include "device/sim/threads.hpp"

namespace kw::sim {

[[nodiscard]] constexpr std::uint64_t lane_bit(unsigned lane) {
  return std::uint64_t{1} << lane;
}
[[nodiscard]] constexpr bool has_lane(std::uint64_t mask, unsigned lane) {
  return lane < k_max_lanes && (mask & lane_bit(lane)) != 0;
}

/// The lane that a shuffle reads, or -1 where the lane keeps its own value. It may be one that takes no part.
[[nodiscard]] int source_lane(const kw_sim::WarpRequest& request, unsigned lane);

/// ballot and match: the lanes whose predicate is true, or whose value is the same, and the lanes that came.
void match_lanes(const PendingWarpOp& op);
/// __reduce_*_sync.
void reduce_lanes(const PendingWarpOp& op);
/// mma.sync, for a whole warp of 32.
void multiply_matrices(const PendingWarpOp& op);

}  // namespace kw::sim
