#pragma once
// What the wgmma style has of its own in the text of the mma style's kernel: the layout of tiles in shared memory, and
// the two products of a warpgroup, and their order.

#include <string>

#include "spec/tensor.hpp"

namespace kw {

/// Holes: element, type, pair, pair_from_floats as in Cuda16BitFloat, and `multiplies`, what wgmma_multiply() gives for
/// each width.
extern const char* const k_wgmma_products;

/// In place of k_mma_loop: a panel's scores are multiplied ahead of the values of the panel before it.
extern const char* const k_wgmma_loop;

/// Device functions for accumulators of 64 rows and `columns`: `multiply` with both operands in shared memory, and
/// `multiply_columns` with the left one in registers. `columns` is a multiple of 8 up to 256; f16 or bf16.
[[nodiscard]] std::string wgmma_multiply(int columns, DType dtype);

}  // namespace kw
