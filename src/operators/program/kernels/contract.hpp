#pragma once
// The family of matrix products: sums over products of two factors, in tiles. What it does not take, plain writes.

#include "operators/program/kernels/program_bundle.hpp"

namespace kw {

/// One stage that is a contraction (contraction.hpp) of a factor that can be read without copies many times its size.
[[nodiscard]] bool contract_takes(const GroupContext& context, const StageGroup& group);
/// Of a group that contract_takes().
[[nodiscard]] GroupKernels contract_kernels(const GroupContext& context, const StageGroup& group);

}  // namespace kw
