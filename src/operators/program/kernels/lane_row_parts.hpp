#pragma once
// Softmaxes of long rows, for CPUs: a row in parts that the first cache holds. Of each part the maximum m is found, and
// then the sum of exp(x - m); each exponential is kept, or x - m for logarithms. When the last part is done and the
// row's maximum M and sum S are known, a quotient is exp(x - m) times exp(m - M) / S, and its logarithm is the sum of
// x - m and m - M - log(S). Memory is read once, and one array of the row's length is kept (M. Milakov, N. Gimelshein,
// "Online normalizer calculation for softmax", 2018, for parts in the place of elements).

#include <optional>

#include "hardware/device_facts.hpp"
#include "operators/program/kernels/lane_row_plan.hpp"

namespace kw {

/// PART_COLUMNS: the columns of a part.
[[nodiscard]] Tunable part_tunable();

/// Whether rows of so many columns are faster in parts. Shorter ones end before what is done once a row pays; and
/// where parts of a row are read in turn, rows as a whole are as fast as memory.
[[nodiscard]] bool parts_pay(double columns, const DeviceFacts& device);

struct RowParts {
  Stage map;  ///< in which the sum's element stands for what makes of a kept element one of the result
  bool are_logarithms = false;  ///< x - m is kept, and not exp(x - m)
};

/// For stages that are the maximum of a row, the sum of exp(x - maximum), and a map, all along the same columns. `kept`
/// is the element of the array that may be kept. Absent where a map asks for more than quotients or their logarithms,
/// or could hide that a sum is NaN: no maximum of a part is.
[[nodiscard]] std::optional<RowParts> row_parts(const std::vector<RowStage>& stages, const StageExpr& kept);

}  // namespace kw
