#pragma once
// Which elements of a tensor are marked, in words about its axes: "only the last 1 of 129 Sq (128)", "only Hq 3",
// "whole tiles of 32 Sq: 1, 3". Tiles are looked for in the sizes kernels use. Knows nothing of what the marks mean.

#include <string>
#include <vector>

#include "tensor/tensor.hpp"

namespace kw {

/// `marked` is row-major with one entry per element. One sentence part per axis that tells something, outermost first;
/// empty when marks are spread over every index of every axis, or when there are none.
[[nodiscard]] std::vector<std::string> error_location(const std::vector<bool>& marked, const TensorSpec& tensor,
                                                      const Axes& axes);

/// "O[B=0, Hq=3, Sq=17, Dv=5]".
[[nodiscard]] std::string coordinates(const TensorSpec& tensor, const Axes& axes, std::int64_t flat);

}  // namespace kw
