#pragma once
// Statistics of what a contraction computes, such as the mean and the variance of a norm behind a convolution, of which
// its kernel leaves parts: for each row and block how many values it has, their mean, and the sum of the squares of
// their differences from that. A second launch joins the parts, so that nobody reads the values again for them, and no
// difference of large sums is taken.

#include <optional>
#include <vector>

#include "operators/program/kernels/contract_tails.hpp"
#include "operators/program/kernels/contraction.hpp"
#include "operators/program/kernels/program_bundle.hpp"
#include "program/stages/rewrite.hpp"

namespace kw {

/// Sums of a contraction's values, and perhaps of the squares of their differences from what follows from the first.
struct JoinedMoments {
  Stage sum;
  std::optional<Stage> squares;  ///< its axes are called as those of `sum`
  /// Of each axis of the contraction that a part has one index of: by axes of `sum` and `joined`.
  AxisValues at;
  StageAxes joined;  ///< whose parts are joined
};

/// A part is of one index along `batch` and the contraction's rows, and of some or all of its columns that are summed
/// by all of the moments.
struct ContractStatistics {
  Contraction contraction;  ///< as it is multiplied
  StageAxes kept;           ///< columns, as they were, that a part has one index of
  StageAxes batch;          ///< these, then the batches as they were
  std::vector<JoinedMoments> moments;
  std::vector<TailedContraction> windows;  ///< of values, whose reductions are stored too; without epilogues
  bool stored = true;                      ///< somebody else reads the values
};

/// Of a contraction's stage and sums of its values, each with that of the squares behind it where are_moments(). All as
/// they were before axes were collapsed. Absent where one of them reads anything but the values, results of those
/// before it and inputs, or where no column is summed by all. `apart`: columns that a part has one index of in any
/// case.
[[nodiscard]] std::optional<ContractStatistics> contract_statistics(const StageProgram& program, const Stage& product,
                                                                    const std::vector<Stage>& sums,
                                                                    const std::set<std::string>& apart = {});

/// The same in the way in which the program's contractions are multiplied, where that leaves such parts: directly,
/// where kept columns are the contraction's first batches, or by patches, where they are what a tile has one index of.
/// Absent also where it gains nothing.
[[nodiscard]] std::optional<ContractStatistics> left_statistics(const GroupContext& context, const Stage& product,
                                                                const std::vector<Stage>& sums);

/// Of `joined` those whose parts differ, where a part is of one index along `batch` and of all indices along other
/// batches.
[[nodiscard]] StageAxes joined_by_parts(const ContractStatistics& statistics, const JoinedMoments& moments,
                                        const StageAxes& batch);

}  // namespace kw
