#pragma once
// What the stages of a row do for each other, for CPUs: values that a later stage reads instead of computing them
// again, and the reduction of the next row that goes on while this one is written.

#include <cstdint>
#include <optional>
#include <vector>

#include "operators/program/kernels/lane_loops.hpp"

namespace kw {

/// Rows that a work-item has at least where the next one is read ahead.
inline constexpr int k_rows_of_item_ahead = 16;
/// Elements of a row that the nearest caches still have when it is read again. No more are kept.
inline constexpr std::int64_t k_near_columns = 65536;

struct LaneRowPlan {
  std::vector<RowStage> stages;
  /// The first stage for the row called `next`, whose axes have names of their own; absent where each row is done by
  /// itself. A row is then read while the one before is written, which keeps memory busy in both directions.
  std::optional<RowStage> ahead;
  std::size_t beside = 0;  ///< the stage in whose loop that is done
  StageAxes next_rows;     ///< the rows' axes under the names that `ahead` has
};

/// `stages` are a group's, of rows along the first `row_count` axes; `local` are buffers that its kernels hold in no
/// memory. The last of `context.buffers` is an array of the work-item's own for the columns of a row.
[[nodiscard]] LaneRowPlan lane_row_plan(const GroupContext& context, const std::vector<const Stage*>& stages,
                                        std::size_t row_count, const std::vector<std::size_t>& local);

}  // namespace kw
