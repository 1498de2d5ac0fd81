#pragma once
// What the wgmma style has of its own in the text of the mma style's kernel: the layout of tiles in shared memory, and
// the two products of a warpgroup, and their order.

#include <string>

#include "tensor/tensor.hpp"

namespace kw {

/// Its section "products" has the holes element, type, pair, pair_from_floats as in Cuda16BitFloat, and `multiplies`,
/// what wgmma_multiply() gives for each width. In its "loop" a panel's scores are multiplied ahead of the values of the
/// panel before it.
inline constexpr const char* k_wgmma_file = "attention/wgmma.cu";

/// Device functions for accumulators of 64 rows and `columns`: `multiply` with both operands in shared memory, and
/// `multiply_columns` with the left one in registers. `columns` is a multiple of 8 up to 256; f16 or bf16.
[[nodiscard]] std::string wgmma_multiply(int columns, DType dtype);

}  // namespace kw
