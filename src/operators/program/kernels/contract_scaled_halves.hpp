#pragma once
// Products of f32 matrices on sm_90 as three products of f16 numbers, or as one where factors may be rounded: which
// contractions these are, the launches that split both factors, and how the threads of a block copy tiles of what these
// leave. kernels/program/ contract_scaled_halves.cu says what the numbers are.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "operators/program/kernels/affine_index.hpp"
#include "operators/program/kernels/contract_halves.hpp"
#include "operators/program/kernels/contraction.hpp"
#include "operators/program/kernels/kernel_scope.hpp"
#include "operators/program/kernels/program_bundle.hpp"

namespace kw {

/// A tensor of f32 whose rows (of the second factor: columns) are split.
struct ScaledFactor {
  std::size_t buffer = 0;
  AffineIndex address;      ///< in elements, by the axes of the contraction
  bool along_steps = true;  ///< neighbouring steps are neighbours in memory, otherwise rows along their last axis
  StageAxes batch;          ///< those batches of the contraction in which it differs
};

struct ScaledFactors {
  ScaledFactor rows, columns;
  bool rounded = false;  ///< to their large parts
};

/// Absent where a factor is no such tensor, has no such neighbours or is read more than once, and of rounded sums that
/// are as long as those which half_factors() leaves out.
[[nodiscard]] std::optional<ScaledFactors> scaled_factors(const Contraction& contraction, const StageProgram& program);

/// Bytes of memory that splitting both factors reads and writes.
[[nodiscard]] double splitting_bytes(const Contraction& contraction, const ScaledFactors& factors);

/// What the splitting leaves of a factor: a row of 128 bytes per 32 steps, or 64 rounded ones, and an exponent per row.
struct SplitFactor {
  std::size_t halves = 0, exponents = 0;  ///< buffers
};

struct SplitContraction {
  ScaledFactors factors;
  SplitFactor rows, columns;
  std::vector<KernelBuffer> buffers;  ///< of the program, and the scratch behind them
  GroupKernels splitting;             ///< the launches before the products, and the scratch
};
/// A defect where there are no scaled factors.
[[nodiscard]] SplitContraction split_contraction(const GroupContext& context, const Contraction& contraction);

[[nodiscard]] HalfTiles scaled_tiles(KernelScope& scope, const Contraction& contraction, const SplitContraction& split);

/// Sections of kernels/program/, as GroupKernels::own_helpers has them, that the products call.
[[nodiscard]] std::set<std::string> scaled_helpers(bool rounded);

}  // namespace kw
