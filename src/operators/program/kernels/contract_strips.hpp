#pragma once
// Products of a small matrix and one whose columns are neighbours in memory, such as convolutions of one tap: a block
// keeps its rows in shared memory, and copies the columns by 16 bytes, strip by strip. kernels/program/strips.cu has
// the kernel.

#include <optional>

#include "operators/program/kernels/affine_index.hpp"
#include "operators/program/kernels/contraction.hpp"
#include "operators/program/kernels/program_bundle.hpp"

namespace kw {

struct StripContraction {
  StageAxes run;        ///< the last columns, whose elements are one run in the second factor and in the output
  AffineIndex columns;  ///< the place of an element of the second factor, by the axes of the contraction
  AffineIndex stored;   ///< that of a sum in the output
};

/// Absent where the second factor is no tensor of f32 that is read without guards, has no such run, or is summed over
/// several axes.
[[nodiscard]] std::optional<StripContraction> strip_contraction(const Contraction& contraction);

/// Without tunables. A defect where there are no strips.
[[nodiscard]] GroupKernels contract_by_strips(const GroupContext& context, const Contraction& contraction);

}  // namespace kw
