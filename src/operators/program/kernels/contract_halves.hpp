#pragma once
// Products of matrices of f16 or bf16 on sm_90, whose tiles are copied to shared memory as they are: which contractions
// these are, and how the threads of a block copy the tiles.

#include <optional>
#include <set>
#include <string>

#include "operators/program/kernels/affine_index.hpp"
#include "operators/program/kernels/contraction.hpp"
#include "operators/program/kernels/kernel_scope.hpp"
#include "operators/program/kernels/program_bundle.hpp"

namespace kw {

/// Steps of a sum that tensor cores keep to its end: in so many they cut off less than an eighth of the last place of
/// f16.
inline constexpr double k_most_half_steps = 32768.0;

/// A tensor of 16-bit numbers.
struct HalfFactor {
  std::size_t buffer = 0;
  AffineIndex address;      ///< in elements, by the axes of the contraction
  bool along_steps = true;  ///< neighbouring steps are neighbours in memory, otherwise neighbouring columns
};

struct HalfFactors {
  DType dtype = DType::f16;  ///< of both
  HalfFactor rows;           ///< along steps
  HalfFactor columns;
};

/// Absent where a factor is no such tensor, or has no such neighbours (what kernels keep for each other is f32); where
/// the factors are not to be multiplied as they are; and of sums so long that what tensor cores cut off of them would
/// show beside the rounding of the result.
[[nodiscard]] std::optional<HalfFactors> half_factors(const Contraction& contraction, const StageProgram& program);

/// Statements in CUDA C++, for kernels/program/contract.cu.
struct HalfTiles {
  std::string tiles;   ///< declarations in shared memory
  std::string places;  ///< where the rows and columns of the thread's elements begin
  std::string loop;
};
/// `boxed`: the copy engine brings the tiles, where it can read the factors.
[[nodiscard]] HalfTiles half_tiles(KernelScope& scope, const Contraction& contraction, const HalfFactors& factors,
                                   bool boxed);

/// Whether the copy engine brings the tiles: it can read both factors, at the sizes of the primary workload, which are
/// rows equally far apart by multiples of 16 bytes; and the product is so large that describing them is worth it, or it
/// is asked for.
[[nodiscard]] bool are_boxed(const Contraction& contraction, const HalfFactors& factors, WayUse boxes);

/// Sections of kernels/program/contract_halves.cu, as GroupKernels::own_helpers has them, besides what half_tiles()
/// needs of the scope.
[[nodiscard]] std::set<std::string> half_helpers(const HalfFactors& factors);

}  // namespace kw
