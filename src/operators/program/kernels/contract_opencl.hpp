#pragma once
// Contractions in OpenCL C for CPUs: the columns' factor is packed into panels of float16s, the rows' factor is read
// where it lies or from a copy with zeros around it, and tiles of sums live in registers.

#include "operators/program/kernels/contraction.hpp"
#include "operators/program/kernels/factor_memory.hpp"
#include "operators/program/kernels/program_bundle.hpp"

namespace kw {

/// `rows` is where the first factor lies.
[[nodiscard]] GroupKernels contract_opencl(const GroupContext& context, const Contraction& contraction,
                                           const FactorMemory& rows);

}  // namespace kw
