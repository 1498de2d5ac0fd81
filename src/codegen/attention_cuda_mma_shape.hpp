#pragma once
// Tile shapes of the mma style: what they take, which are legal on a device, and what each should cost.

#include <string>
#include <vector>

#include "codegen/attention_cuda_shape.hpp"

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

/// With the first guess for the device as defaults.
[[nodiscard]] std::vector<Tunable> mma_tunables(const Problem& problem, const DeviceFacts& device);
[[nodiscard]] std::vector<std::string> mma_constraints(const Problem& problem, const DeviceFacts& device);

}  // namespace kw
