#pragma once
// Softmaxes of long rows, for CPUs: a row in parts that the first cache holds. Of each part the maximum m is found, and
// then the sum of exp(x - m) and these exponentials themselves; what parts found becomes the row's when its last one is
// done, by factors exp(m - M) with the row's maximum M. Memory is read once, and a row of exponentials is all that is
// kept (M. Milakov, N. Gimelshein, "Online normalizer calculation for softmax", 2018, for parts in the place of
// elements).

#include <optional>

#include "hardware/device_facts.hpp"
#include "operators/program/kernels/lane_row_plan.hpp"

namespace kw {

/// PART_COLUMNS: the columns of a part.
[[nodiscard]] Tunable part_tunable();

/// Whether rows of so many columns are faster in parts. Shorter ones end before what is done once a row pays; and
/// where parts of a row are read in turn, rows as a whole are as fast as memory.
[[nodiscard]] bool parts_pay(double columns, const DeviceFacts& device);

/// For stages that are the maximum of a row, the sum of exp(x - maximum), and a map, all along the same columns: the
/// map as it is where rows are in parts. Where exponentials are kept, it multiplies each by the sum's element, which is
/// then exp(m - M) / sum for the part. Absent for other stages: where a map asks for more of the exponentials or could
/// hide that a sum is NaN, since no maximum of a part is.
[[nodiscard]] std::optional<Stage> map_of_parts(const std::vector<RowStage>& stages);

}  // namespace kw
