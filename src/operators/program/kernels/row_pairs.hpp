#pragma once
// Two reductions of the same row of which the second one needs the first one's result, in one reading of the row.
//
// A sum and the sum of squared differences from what follows of it, as mean and variance are: each batch of elements
// has its own mean and squares, which are joined to those before (Chan, Golub and LeVeque), so that nothing is lost
// where the mean is large beside the differences. A maximum and the sum of the exponentials of the differences from it,
// as a softmax has them: what was summed is scaled when a larger element comes.

#include <optional>
#include <string>

#include "operators/program/kernels/accumulator.hpp"
#include "program/stages/stage.hpp"

namespace kw {

struct RowPair {
  Accumulator both;  ///< variables of both; its result is the first one's. It has no step
  /// Statements that take in a batch of `values`: before the loop over its elements, for each of them, and after. The
  /// last ones have the hole ${counts} where a block for an element that counts is opened.
  std::vector<std::string> before, uses, after;
  std::string second_result;  ///< an expression with the hole ${first} for the value that followed from the first one
};

/// Absent where the stages, one after the other in a group, are no such pair.
[[nodiscard]] std::optional<RowPair> row_pair(const Stage& first, const Stage& second);

}  // namespace kw
