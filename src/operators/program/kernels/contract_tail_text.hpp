#pragma once
// Pieces of text of the reductions behind contractions, and the launch that joins what tiles have left.

#include <string>

#include "operators/program/kernels/contract_patches.hpp"
#include "operators/program/kernels/contract_tails.hpp"
#include "operators/program/kernels/contract_text.hpp"
#include "operators/program/kernels/kernel_scope.hpp"

namespace kw {

/// What a reduction of no elements is.
[[nodiscard]] std::string tail_neutral(const ContractTail& tail);
/// Of two expressions.
[[nodiscard]] std::string tail_joined(KernelScope& scope, const ContractTail& tail, const std::string& a,
                                      const std::string& b);
/// What becomes of the result, which is called "gathered".
[[nodiscard]] StoredSum tail_result(KernelScope& scope, const KernelBuffer& out, const StageExpr& epilogue,
                                    const std::string& place);

/// How many tiles of patches have pixels of an image, or of a plane of it: in the kernel and in the bundle. `wide`:
/// they are as PATCH_WIDE says.
[[nodiscard]] std::string patch_tiles_text(KernelScope& scope, const Contraction& contraction,
                                           const PatchContraction& patch, bool wide);
[[nodiscard]] std::string patch_tiles_expression(const Contraction& contraction, const PatchContraction& patch,
                                                 bool wide);

/// Joins the numbers that tiles of rows, or of pixels of the patch, have left in scratch memory of that name, and
/// stores what becomes of them. Without tunables. `patch`: null where there are no patches.
[[nodiscard]] GroupKernels joined_tiles(const GroupContext& context, const Contraction& contraction,
                                        const PatchContraction* patch, const ContractTail& tail,
                                        const std::string& parts);

}  // namespace kw
