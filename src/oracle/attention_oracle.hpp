#pragma once
// Attention in double precision, straight from the definition in spec/problem.hpp.

#include "oracle/oracle.hpp"

namespace kw {

/// Inputs Q, K, V and the captured tensors; outputs O and, where the problem asks for it, LSE. Work is shared out in
/// blocks of query rows.
[[nodiscard]] OutputValues attention_oracle(const Problem& problem, const Axes& axes, const InputValues& inputs,
                                            const ParallelFor& parallel);

}  // namespace kw
