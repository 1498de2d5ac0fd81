#pragma once
// What the stages of a row do for each other, for CPUs: values that a later stage reads instead of computing them
// again, and stages of the next rows that go on while this one is written.

#include <cstdint>
#include <string>
#include <vector>

#include "operators/program/kernels/lane_loops.hpp"

namespace kw {

/// Rows that a work-item has at least where next ones are read ahead.
inline constexpr int k_rows_of_item_ahead = 16;
/// Elements of a row that the nearest caches still have when it is read again. No more are kept.
inline constexpr std::int64_t k_near_columns = 65536;
/// What names of rows that are 0, 1 and 2 ahead begin with, and of what belongs to them.
inline constexpr const char* k_row_prefixes[] = {"", "next_", "later_"};

struct LaneRowPlan {
  std::vector<RowStage> stages;
  /// Indices of stages that have a loop in common, in its order. A stage of a row ahead comes before one of this row:
  /// rows often lie whole pages apart, and a read behind a store with the same place in its page waits for it.
  std::vector<std::vector<std::size_t>> loops;
  /// The rows' axes under the names that stages of so many rows ahead have; that of index 0 is this row.
  std::vector<StageAxes> rows;
  /// Whether rows are done in parts, as lane_row_parts.hpp has it: a maximum and a sum of the next row, and a map.
  bool in_parts = false;

  /// The most rows that a stage is ahead. Memory is then read and written at the same time.
  [[nodiscard]] int ahead() const { return static_cast<int>(rows.size()) - 1; }
  /// Whether a stage keeps elements of a row. Where it is a row ahead, each takes the place of the one that was read in
  /// the same turn.
  [[nodiscard]] bool keeps() const;
};

/// `stages` are a group's, of rows along the first `row_count` axes; `local` are buffers that its kernels hold in no
/// memory. The last of `context.buffers` is an array of the work-item's own for the columns of a row.
[[nodiscard]] LaneRowPlan lane_row_plan(const GroupContext& context, const std::vector<const Stage*>& stages,
                                        std::size_t row_count, const std::vector<std::size_t>& local);

}  // namespace kw
