#pragma once
// A sum over outputs of a sum of products, as the mean over the image of a convolution: the factor that depends on the
// summed places is summed first, for each step of the window over the places that it meets, and the products are few.
// What changes is rounding.

#include <string>
#include <vector>

#include "program/stages/stage.hpp"

namespace kw {

/// Rewrites such pairs of stages where that is a quarter of the work or less. Returns a line for each.
[[nodiscard]] std::vector<std::string> exchange_sums(StageProgram& program);

}  // namespace kw
