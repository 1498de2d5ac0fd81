#pragma once
// The second launch of a product whose sum is split into parts.

#include <string>

#include "operators/program/kernels/contraction.hpp"
#include "operators/program/kernels/program_bundle.hpp"

namespace kw {

/// Adds the SPLIT_K parts of each sum in scratch memory of that name, and stores what becomes of it. Without tunables.
[[nodiscard]] GroupKernels sum_of_parts(const GroupContext& context, const Contraction& contraction,
                                        const std::string& parts);

}  // namespace kw
