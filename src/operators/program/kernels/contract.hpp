#pragma once
// The family of matrix products: sums over products of two factors, in tiles. What it does not take is grouped as
// any other stage.

#include "operators/program/kernels/program_bundle.hpp"

namespace kw {

/// Whether the stage is a contraction (contraction.hpp) of a factor that can be read without copies many times its
/// size. Of `buffers`, those of the program, types matter alone.
[[nodiscard]] bool is_contraction(const Stage& stage, const std::vector<KernelBuffer>& buffers, Dialect dialect);
/// A group of one such stage, or of one and the reduction of what it computes (contract_tails.hpp).
[[nodiscard]] bool contract_takes(const GroupContext& context, const StageGroup& group);
/// Of a group that contract_takes().
[[nodiscard]] GroupKernels contract_kernels(const GroupContext& context, const StageGroup& group);

}  // namespace kw
