#pragma once
// The tunables of contractions: which values they may have, the best guess for a program on a device, and what an
// assignment is estimated to cost.

#include <cstdint>
#include <functional>

#include "codegen/dialect.hpp"
#include "hardware/device_facts.hpp"
#include "operators/program/kernels/contract_patch_shape.hpp"
#include "operators/program/kernels/contraction.hpp"
#include "operators/program/kernels/program_bundle.hpp"
#include "record/bundle.hpp"

namespace kw {

/// Of a convolution that can be computed directly; see contract_direct.hpp.
struct DirectSize {
  std::int64_t phases = 1, places = 1;
  double loads = 1, uses = 1;  ///< in each step
  double steps = 1, around = 1;
  double last_taps = 1;  ///< of the innermost loop
  bool guarded = false;
  bool slides = false;  ///< several taps lie along a line of the image
};

/// The extents of a contraction as it was read.
struct ContractSize {
  double batch = 1, rows = 1, columns = 1, steps = 1;
  bool guarded = false;                           ///< elements have guards, and places of several axes
  bool rounded = false;                           ///< factors may be rounded to tf32
  std::optional<PatchSize> patch = std::nullopt;  ///< where it can be multiplied by patches
  bool halves = false;                            ///< factors are matrices of f16 or bf16; see contract_halves.hpp
  bool boxed = false;                             ///< and the copy engine brings their tiles; see contract_boxes.hpp
  bool strips = false;    ///< it can be multiplied by strips of columns; see contract_strips.hpp
  double operations = 0;  ///< that are done to each sum
  std::optional<DirectSize> direct = std::nullopt;
  /// Memory that is read and written to split both factors; absent where they cannot be: see
  /// contract_scaled_halves.hpp.
  std::optional<double> splitting_bytes = std::nullopt;
};
/// Of rounded factors: a sum of more steps would lose as much by what tensor cores cut off as by the rounding.
[[nodiscard]] inline bool is_long_sum(const ContractSize& size) {
  return size.steps > 4096.0;
}
/// Leaves out `halves`, `boxed` and `splitting_bytes`.
[[nodiscard]] ContractSize contract_size(const Contraction& contraction);
/// Of every contraction of the program: one assignment of tunables has to suit all of them.
[[nodiscard]] std::vector<ContractSize> contract_sizes(const StageProgram& program, ColumnChoice choice,
                                                       ContractWays ways = {});

/// Of the kernels for CPUs: TILE_ROWS x 16 * TILE_VECTORS sums in registers, ROW_TILES tiles per work-group, BLOCK_K
/// steps of the sum in the nearest cache. Defaults are the best guess.
[[nodiscard]] std::vector<Tunable> contract_vector_tunables(const std::vector<ContractSize>& sizes,
                                                            const DeviceFacts& device);
[[nodiscard]] std::vector<std::string> contract_vector_constraints(const DeviceFacts& device);
/// In cycles of a core; `assignment` has every tunable.
[[nodiscard]] double contract_vector_cost(const std::vector<ContractSize>& sizes, const DeviceFacts& device,
                                          const IntBindings& assignment);

/// Whether a GPU would idle on the tiles of the product, so that its sum is split into parts.
[[nodiscard]] bool contract_splits(const ContractSize& size, const DeviceFacts& device);

/// What multiplies the tiles of a GPU's block.
enum class TileProducts : std::uint8_t {
  simt,    ///< multiply-adds of threads
  tf32,    ///< three products of tf32 numbers on tensor cores, with the error of f32; one of factors that are rounded
  wgmma,   ///< the same by warpgroups, from shared memory
  halves,  ///< products of 16-bit numbers by warpgroups
  scaled_halves,  ///< three such products, of numbers of f32 that launches before them have split, with the error of
                  ///< f32; one of factors that are rounded
  strips,   ///< as tf32, of few rows and steps: columns come by 16 bytes, and sums go to the output from registers
  direct,   ///< as simt, of short sums: the filter is in shared memory, each thread loads its elements of the image
  patches,  ///< as wgmma, with patches of a tensor for all taps of a filter where there are some
};
/// Whether the contraction is multiplied by patches, where some are.
[[nodiscard]] bool by_patches(const ContractSize& size, TileProducts products, const DeviceFacts& device);
/// Of a program with these contractions.
[[nodiscard]] TileProducts tile_products(Dialect dialect, const DeviceFacts& device,
                                         const std::vector<ContractSize>& sizes, ContractWays ways);
/// Of the kernels for GPUs: tiles of TILE_M x TILE_N sums by TILE_K steps per block, THREAD_M x THREAD_N sums per
/// thread; SPLIT_K parts of a sum where one of the products is split; with patches PATCH_K and PATCH_STEPS; of strips
/// see contract_strip_shape.hpp, of direct convolutions contract_direct_shape.hpp.
[[nodiscard]] std::vector<Tunable> contract_gpu_tunables(const std::vector<ContractSize>& sizes, TileProducts products,
                                                         const DeviceFacts& device);
[[nodiscard]] std::vector<std::string> contract_gpu_constraints(const std::vector<ContractSize>& sizes,
                                                                TileProducts products, const DeviceFacts& device);
/// In clocks of a unit; `assignment` has every tunable but perhaps SPLIT_K.
[[nodiscard]] double contract_gpu_cost(const std::vector<ContractSize>& sizes, TileProducts products,
                                       const DeviceFacts& device, const IntBindings& assignment);

using ContractCost = std::function<double(const IntBindings& assignment)>;
/// The `count` cheapest assignments of `tunables` that keep the constraints, the cheapest first. Constraints name
/// nothing but tunables and facts of the device; one on what the device does not say holds.
[[nodiscard]] std::vector<IntBindings> cheapest_contracts(const std::vector<Tunable>& tunables,
                                                          const std::vector<std::string>& constraints,
                                                          const DeviceFacts& device, const ContractCost& cost,
                                                          std::size_t count);

}  // namespace kw
