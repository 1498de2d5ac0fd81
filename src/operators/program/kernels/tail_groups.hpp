#pragma once
// Which contractions do the reduction of their sums in their own kernel: groups of two stages.

#include "operators/program/kernels/contract_tails.hpp"

namespace kw {

/// Joins the group of a contraction and that of the one reduction that reads it, where takes_tail(). `stages` are those
/// of the program as they were before reductions were split and axes collapsed.
void join_tails(GroupedProgram& grouped, const std::vector<Stage>& stages, Dialect dialect, const DeviceFacts& device,
                ContractWays ways);

}  // namespace kw
