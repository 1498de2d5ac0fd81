#pragma once
// Which of two verified kernels a proposer goes on from.

#include "record/attempt.hpp"

namespace kw {

/// Whether an accepted attempt is better than another: faster, or the first, or marked by the verifier where nothing
/// was timed. `than` may be null.
[[nodiscard]] bool is_better(const Attempt& attempt, const Attempt* than);

}  // namespace kw
