#pragma once
// Tile shapes of the simt style: what they take, which are legal on a device, and what each should cost.

#include <string>
#include <vector>

#include "operators/attention/kernels/cuda/shape.hpp"

namespace kw {

/// Expressions of tunables and head sizes.
struct SimtShape {
  std::string thread_rows, thread_keys;  ///< a thread's scores
  std::string rows, keys;                ///< a block's tile
  std::string head_stride;               ///< floats between rows of Q and K in shared memory
  std::string value_stride;              ///< of V; a whole number of float4s for every lane
  std::string shared_bytes;              ///< of a block, without the row bounds
  std::string registers;                 ///< of a thread, roughly
};
[[nodiscard]] SimtShape simt_shape(const Problem& problem, const HeadText& heads);

/// With the first guess for the device as defaults.
[[nodiscard]] std::vector<Tunable> simt_tunables(const Problem& problem, const DeviceFacts& device);
[[nodiscard]] std::vector<std::string> simt_constraints(const Problem& problem);

}  // namespace kw
