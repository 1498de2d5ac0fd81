#pragma once
// Which of two verified kernels a proposer goes on from.

#include "record/attempt.hpp"

namespace kw {

/// Whether an accepted attempt is better than another of the run: the first, the one that became the run's best later,
/// or the one with the lower median, where pairs decided nothing between the two. `than` may be null.
[[nodiscard]] bool is_better(const Attempt& attempt, const Attempt* than);

}  // namespace kw
