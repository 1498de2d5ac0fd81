#pragma once
// Which tiles of a product are stored without their sums: those on one side of a diagonal, as torch.triu leaves zeros
// there.

#include <string>

#include "operators/program/kernels/contraction.hpp"
#include "operators/program/kernels/kernel_scope.hpp"

namespace kw {

/// A condition in CUDA C++ over first_row and first_column, TILE_M and TILE_N: whether the result of any element of the
/// tile needs its sum. Empty where all do, or it is not known from one comparison of a row's index with a column's.
[[nodiscard]] std::string needed_tile_text(KernelScope& scope, const Contraction& contraction);

}  // namespace kw
