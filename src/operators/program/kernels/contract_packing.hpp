#pragma once
// Filters whose steps are no neighbours in memory, as those of a transposed convolution, are copied so that they are,
// before the products: a tile reads each of them many times.

#include <optional>

#include "operators/program/kernels/contraction.hpp"
#include "operators/program/kernels/program_bundle.hpp"

namespace kw {

/// A contraction for GPUs whose first factor is a copy.
struct PackedContraction {
  Contraction contraction;            ///< of the copy
  std::vector<KernelBuffer> buffers;  ///< of the program, and the copy behind them
  GroupKernels copying;               ///< the launch before the products, and the scratch
};

/// Absent where the first factor is read well in place, or is not small beside the output.
[[nodiscard]] std::optional<PackedContraction> packed_contraction(const GroupContext& context,
                                                                  const Contraction& contraction);

}  // namespace kw
