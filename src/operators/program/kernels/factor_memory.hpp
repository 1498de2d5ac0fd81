#pragma once
// Where a factor of a contraction lies as floats without guards, so that the place of an element is what its row knows
// plus what a step adds: the tensor itself, or a copy of it with zeros around (convolution), in f32, or with a map
// applied.

#include <optional>

#include "operators/program/kernels/affine_index.hpp"
#include "operators/program/kernels/contraction.hpp"
#include "operators/program/kernels/kernel_scope.hpp"

namespace kw {

/// What is computed before the products: each element once, row-major over these axes.
struct FactorCopy {
  StageAxes axes;
  StageExpr element;
  std::vector<StageExpr> guards;  ///< where one does not hold, the copy has a zero
};

struct FactorMemory {
  std::optional<FactorCopy> copy;
  std::size_t buffer = 0;  ///< of the program, where there is no copy
  AffineIndex address;     ///< in elements, by the axes of the contraction
};

/// Absent where a copy would be many times as large as what it is made of, or an address cannot be expressed for every
/// binding of the axes.
[[nodiscard]] std::optional<FactorMemory> factor_memory(const Contraction& contraction, const ContractionFactor& factor,
                                                        const std::vector<KernelBuffer>& buffers);

/// The place of the element that the load reads, in its tensor; absent where it is no sum over axes and `phases`, or
/// as for affine_times().
[[nodiscard]] std::optional<AffineIndex> load_address(const StageNode& load, const std::set<std::string>& phases);

/// The place of the element that an index per axis of `shape` names, in a dense tensor; absent as for affine_times().
[[nodiscard]] std::optional<AffineIndex> dense_address(const std::vector<AffineIndex>& indices, const Shape& shape);

}  // namespace kw
