#pragma once
// A second operator, for tests: Y = the sum of X over its last axis, X of any rank. Without other axes Y is a single
// number. With `chunk`, Y has the sums of chunks of that many elements, along an axis Chunks whose extent follows.
//
//   [row_sum]
//   axes = ["Rows", "Columns"]  # of X
//   chunk = 32                  # may be left out

#include "problem/operator.hpp"

namespace kw {

[[nodiscard]] const Operator& row_sum_operator();

/// Of a problem of row_sum; 0 without.
[[nodiscard]] std::int64_t row_sum_chunk(const Problem& problem);

}  // namespace kw
