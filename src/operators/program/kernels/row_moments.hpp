#pragma once
// A sum and the sum of squared differences from what follows of it, as mean and variance are, in one reading of the
// row. Each batch of elements has its own mean and squares, which are joined to those before (Chan, Golub and LeVeque),
// so that nothing is lost where the mean is large beside the differences.

#include "operators/program/kernels/accumulator.hpp"
#include "program/stages/stage.hpp"

namespace kw {

/// The variables of both: `count`, `mean` and `squares` of the elements so far, all floats.
[[nodiscard]] Accumulator moments_accumulator();

/// Statements that take in a batch: before the loop over its elements, for each element, and after.
struct MomentsText {
  std::vector<std::string> before, uses, after;
};
/// `counts` opens a block for an element that counts.
[[nodiscard]] MomentsText moments_of_batch(const std::string& counts);

/// The sum of what `second` sums, where `first_result` is r.
[[nodiscard]] std::string second_sum(const std::string& first_result);

}  // namespace kw
