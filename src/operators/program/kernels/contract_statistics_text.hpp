#pragma once
// The launches that join the parts of statistics which the kernel of a contraction has left, and the place of a part.

#include <functional>
#include <string>

#include "operators/program/kernels/contract_statistics.hpp"
#include "operators/program/kernels/kernel_scope.hpp"
#include "operators/program/kernels/program_bundle.hpp"

namespace kw {

/// Three floats each, dense: by `batch`, rows, and as many tiles as the columns have.
struct StatisticsParts {
  std::string buffer;  ///< in scratch memory
  StageAxes batch;     ///< those of the contraction's batches, and of its columns, that a part has one index of
  std::string tiles;   ///< as an expression of the bundle
  std::function<std::string(KernelScope& scope)> tiles_in;  ///< as one of the kernel
};

/// With the memory of the parts. Without tunables.
[[nodiscard]] GroupKernels joined_statistics(const GroupContext& context, const ContractStatistics& statistics,
                                             const StatisticsParts& parts);

}  // namespace kw
