#pragma once
// The tunables of contractions: which values they may have on a device, the best guess and others worth a try first,
// and an estimate of what an assignment costs.

#include "hardware/device_facts.hpp"
#include "operators/program/kernels/contraction.hpp"
#include "record/bundle.hpp"

namespace kw {

/// Of the kernels for CPUs: TILE_ROWS x 16 * TILE_VECTORS sums in registers, ROW_TILES tiles per work-group, BLOCK_K
/// steps of the sum in the nearest cache.
[[nodiscard]] std::vector<Tunable> contract_vector_tunables(const DeviceFacts& device);
[[nodiscard]] std::vector<std::string> contract_vector_constraints(const DeviceFacts& device);

/// Whether a GPU would idle on the tiles of the product, so that its sum is split into parts.
[[nodiscard]] bool contract_splits(const Contraction& contraction, const DeviceFacts& device);
/// Of the kernels for GPUs: tiles of TILE_M x TILE_N sums by TILE_K steps per block, THREAD_M x THREAD_N sums per
/// thread, SPLIT_K parts of a sum that is split.
[[nodiscard]] std::vector<Tunable> contract_simt_tunables(const Contraction& contraction, const DeviceFacts& device);
[[nodiscard]] std::vector<std::string> contract_simt_constraints();

}  // namespace kw
