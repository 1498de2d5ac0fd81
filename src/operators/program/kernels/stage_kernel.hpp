#pragma once
// One stage as one straightforward kernel: a work-item per element of the result, loops over what is reduced, a
// work-item per row of a running reduction.

#include <set>
#include <string>
#include <vector>

#include "operators/program/kernels/kernel_scope.hpp"
#include "record/bundle.hpp"

namespace kw {

struct StageKernel {
  std::string source;  ///< the function, without the comment before it
  Launch launch;
  std::set<KernelHelper> helpers;
  std::set<std::string> own_helpers;
};

/// `buffers` are those of the program, in its order.
[[nodiscard]] StageKernel stage_kernel(const Stage& stage, const std::string& name,
                                       const std::vector<KernelBuffer>& buffers, Dialect dialect);

/// The product of the extents as an integer expression over axes.
[[nodiscard]] std::string count_expression(const Shape& shape);

}  // namespace kw
