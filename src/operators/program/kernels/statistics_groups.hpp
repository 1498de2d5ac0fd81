#pragma once
// Which contractions leave parts of the statistics of their values: groups of a contraction, sums of its values and
// sums of squares (contract_statistics.hpp).

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "operators/program/kernels/program_bundle.hpp"

namespace kw {

/// Buffers that a contraction and the reductions behind it write, in the order in which they run.
struct StatisticsGroup {
  std::size_t values = 0;
  std::vector<std::size_t> reductions;
  std::vector<std::string> applied;  ///< a line for each stage that was rewritten, as those of the simplification
};

/// Those where there are left_statistics(); none but in CUDA C++. Sums of what follows from the values by a factor and
/// a term, such as the mean of an image behind a norm, are rewritten to read means of the values, which then belong to
/// the group (affine_sums.hpp), and pooling to read pooled values (pooled_values.hpp), or to be a contraction of its
/// own (pool_apart.hpp). `by_rows` groups the program without any of it: what one launch does with the
/// values in a cache is left alone, unless statistics are always wanted.
[[nodiscard]] std::vector<StatisticsGroup> statistics_groups(StageProgram& program,
                                                             const std::function<GroupedProgram()>& by_rows,
                                                             Dialect dialect, const DeviceFacts& device,
                                                             ContractWays ways);
[[nodiscard]] std::set<std::size_t> reductions_of(const std::vector<StatisticsGroup>& groups);

/// Puts the reductions' groups into that of their contraction, which writes the values only where somebody else reads
/// them. `stages` are those of the program as they were when the groups were found.
void join_statistics(GroupedProgram& grouped, const std::vector<Stage>& stages,
                     const std::vector<StatisticsGroup>& groups, Dialect dialect, const DeviceFacts& device,
                     ContractWays ways);

}  // namespace kw
