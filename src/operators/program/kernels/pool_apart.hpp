#pragma once
// Average pooling behind a norm, as a contraction of its own: sums of windows of a convolution's values are those of a
// convolution with a filter that is summed over the window (pool_products.hpp), which is so much less work that it
// costs less than to write the values and read them again.

#include <cstddef>
#include <set>

#include "program/stages/stage.hpp"

namespace kw {

/// Rewrites the only stage that reads what the contraction writes to `values`, besides those that write `reductions`,
/// so that nobody else reads it. False, and the program may be anything, where that is no such pooling or takes more
/// than `most` of the contraction's work.
[[nodiscard]] bool pool_apart(StageProgram& program, std::size_t values, const std::set<std::size_t>& reductions,
                              double most);

}  // namespace kw
