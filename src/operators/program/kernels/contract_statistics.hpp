#pragma once
// Statistics of what a contraction computes, such as the mean and the variance of a norm behind a convolution, of which
// its kernel leaves parts: for each row and block how many values it has, their mean, and the sum of the squares of
// their differences from that. A second launch joins the parts, so that nobody reads the values again for them, and no
// difference of large sums is taken.

#include <optional>
#include <vector>

#include "operators/program/kernels/contraction.hpp"
#include "operators/program/kernels/program_bundle.hpp"
#include "program/stages/rewrite.hpp"

namespace kw {

/// Sums of a contraction's values, and perhaps of the squares of their differences from what follows from the first.
struct Moments {
  Stage sum;
  std::optional<Stage> squares;  ///< its axes are called as those of `sum`
  /// Of each axis of the contraction that a part has one index of: by axes of `sum` and `joined`.
  AxisValues at;
  StageAxes joined;  ///< whose parts are joined
};

/// A part is of one index along `batch` and `rows`, and of some or all columns, which are all summed.
struct ContractStatistics {
  Contraction contraction;  ///< columns that not all of the moments sum have become the first batches
  StageAxes kept;           ///< these
  std::vector<Moments> moments;
  bool stored = true;  ///< somebody else reads the values
};

/// Of a contraction's stage and sums of its values, each with that of the squares behind it where are_moments(). All as
/// they were before axes were collapsed. Absent where one of them reads anything but the values, results of those
/// before it and inputs, or where no column is summed by all.
[[nodiscard]] std::optional<ContractStatistics> contract_statistics(const StageProgram& program, const Stage& product,
                                                                    const std::vector<Stage>& sums);

/// Of `joined` those whose parts differ, where a part is of one index along `batch` of the contraction's batches and of
/// all indices along the others.
[[nodiscard]] StageAxes joined_by_parts(const ContractStatistics& statistics, const Moments& moments,
                                        const StageAxes& batch);
/// Whether such parts can be left: all of the moments sum what a part has all indices of, and parts can be counted.
[[nodiscard]] bool can_leave_parts(const ContractStatistics& statistics, const StageAxes& batch);

/// Whether the kernel of the contraction, in the way in which the program's are multiplied, leaves such parts.
[[nodiscard]] bool leaves_statistics(const GroupContext& context, const ContractStatistics& statistics);

}  // namespace kw
