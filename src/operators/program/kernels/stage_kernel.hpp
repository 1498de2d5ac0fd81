#pragma once
// One stage as one straightforward kernel: a work-item per element of the result, loops over what is reduced, a
// work-item per row of a running reduction.

#include <string>

#include "operators/program/kernels/program_bundle.hpp"

namespace kw {

[[nodiscard]] GroupKernels stage_kernel(const GroupContext& context, const Stage& stage);

/// The product of the extents as an integer expression over axes.
[[nodiscard]] std::string count_expression(const Shape& shape);

}  // namespace kw
