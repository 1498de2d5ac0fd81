#pragma once
// Sums over small windows of sums of products, as the average pooling of a convolution: the filter is summed over the
// window first, and one convolution with a larger filter and a larger step gives the pooled outputs. A transposed
// convolution whose outputs are pooled by its own stride becomes a convolution. What changes is rounding.

#include <string>
#include <vector>

#include "program/stages/stage.hpp"

namespace kw {

/// Rewrites such pairs of stages, whose windows, strides and steps are constants, where that is no more work. Returns a
/// line for each.
[[nodiscard]] std::vector<std::string> pool_products(StageProgram& program);

}  // namespace kw
