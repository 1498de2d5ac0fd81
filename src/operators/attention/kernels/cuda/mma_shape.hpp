#pragma once
// Tile shapes of the mma style: what they take, which are legal on a device, and what each should cost.

#include <string>
#include <vector>

#include "operators/attention/kernels/cuda/decode.hpp"
#include "operators/attention/kernels/cuda/shape.hpp"

namespace kw {

/// Expressions of tunables and head sizes. Strides are in elements.
struct MmaShape {
  std::string warps, rows, keys;        ///< a block's tile
  std::string head_pad, head_stride;    ///< of Q and K in shared memory
  std::string value_pad, value_stride;  ///< of V
  std::string query_tiles = "1";        ///< fragments of Q that a warp holds, f16 and bf16
  std::string shared_bytes;             ///< of a block, without the row bounds
  std::string registers;                ///< of a thread, roughly
};
[[nodiscard]] MmaShape mma_shape(const Problem& problem, const HeadText& heads);

/// That tiles fit into shared memory and registers, for the heads of every workload; the limits are facts of the device
/// that a bundle runs on, by name.
[[nodiscard]] std::vector<std::string> tile_constraints(const Problem& problem,
                                                        MmaShape (*shape_of)(const Problem&, const HeadText&));
/// What a block of this shape takes, with four resident warps for half of the throughput.
[[nodiscard]] BlockShape tensor_core_block(const MmaShape& shape, const DecodePlan& plan, const IntBindings& names);
/// Multiply-adds of f16 per clock and unit; a usual value where the device's facts have none.
[[nodiscard]] double tensor_rate(const DeviceFacts& gpu);
/// The cheapest first; every estimate is made once.
[[nodiscard]] std::vector<IntBindings> tiles_by_cost(const Problem& problem, const DeviceFacts& device,
                                                     const std::vector<IntBindings>& tiles,
                                                     double (*estimate)(const Problem&, const DeviceFacts&,
                                                                        const IntBindings&));
/// The first few, with the structural choices' defaults.
[[nodiscard]] std::vector<IntBindings> best_seeds(std::vector<IntBindings> by_cost,
                                                  const std::vector<Tunable>& choices);

/// With the first guess for the device as defaults, for a kernel of these structural choices.
[[nodiscard]] std::vector<Tunable> mma_tunables(const Problem& problem, const DeviceFacts& device,
                                                const IntBindings& structure);
[[nodiscard]] std::vector<std::string> mma_constraints(const Problem& problem);

}  // namespace kw
