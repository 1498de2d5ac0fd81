#pragma once
// Stages that work on the same rows of their tensors, such as the maximum, the sum and the quotients of a softmax: one
// work-group can compute all of them for its rows, while the elements are near it.

#include <functional>
#include <vector>

#include "program/stages/stage.hpp"

namespace kw {

struct RowGroup {
  std::vector<std::size_t> stages;  ///< of the program, in the order in which they run
  std::size_t rows = 0;             ///< how many leading axes of each are the rows', under the same names; see below
};

struct RowRules {
  /// Whether a reduction may begin a group, and be in one at all.
  std::function<bool(const Stage& reduction)> reduction;
  /// Whether a map of so many rows may be in a group.
  std::function<bool(const Stage& map, double rows)> map;
};

/// Groups of one reduction or more, and of maps that use its results. Members get their rows' axes first, a place, and
/// as few axes as can be. A result that is read within the group is read by its own row alone; what a map of the group
/// computes is read by others than the group alone.
[[nodiscard]] std::vector<RowGroup> row_groups(StageProgram& program, const RowRules& rules);

/// `groups` and every stage that is in none of them as a group of one, in an order in which each comes after what it
/// reads.
[[nodiscard]] std::vector<std::vector<std::size_t>> in_running_order(
    const StageProgram& program, const std::vector<std::vector<std::size_t>>& groups);

}  // namespace kw
