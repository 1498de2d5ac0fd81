#pragma once
// How the sums of a tile on a GPU come from shared memory into the output.

#include <string>

#include "codegen/text.hpp"
#include "operators/program/kernels/contraction.hpp"
#include "operators/program/kernels/kernel_scope.hpp"

namespace kw {

/// The statements for a line of each thread's sums, of which `fillings` has the holes. Four neighbours at a time where
/// they are neighbours in the output, and the kernel finds that addresses allow it. `one_by_one`: never.
[[nodiscard]] std::string stores_text(const Contraction& contraction, const KernelBuffer& out, bool one_by_one,
                                      const Fillings& fillings);

}  // namespace kw
