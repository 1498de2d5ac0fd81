#pragma once
// Contractions in CUDA C++ and HIP C++ for any GPU: tiles of both factors in shared memory, tiles of sums in registers.
// Factors are computed where they are read, guards and maps included.

#include "operators/program/kernels/contract_direct_tails.hpp"
#include "operators/program/kernels/contract_statistics.hpp"
#include "operators/program/kernels/contract_tails.hpp"
#include "operators/program/kernels/contraction.hpp"
#include "operators/program/kernels/program_bundle.hpp"

namespace kw {

/// Where the device would idle, the sum is split into parts that a second launch adds.
/// With a `tail` the sums are reduced and only that is stored; of such takes_tail() holds, or of a direct convolution's
/// has_direct_tails(). `statistics`: of this contraction, without a tail, of left_statistics().
[[nodiscard]] GroupKernels contract_cuda(const GroupContext& context, const Contraction& contraction,
                                         const ContractTail* tail = nullptr, const DirectTail* direct_tail = nullptr,
                                         const ContractStatistics* statistics = nullptr);

}  // namespace kw
