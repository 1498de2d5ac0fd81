#pragma once
// Tiles of contractions for GPUs: what choosing among ways to multiply them needs besides contract_shape.hpp.

#include <vector>

#include "operators/program/kernels/contract_shape.hpp"

namespace kw {

/// Contractions that are not multiplied by patches, where some are.
[[nodiscard]] std::vector<ContractSize> without_patches(const std::vector<ContractSize>& sizes,
                                                        const DeviceFacts& device);

/// The cheapest assignment for all of them, and nothing where none fits.
[[nodiscard]] std::vector<IntBindings> cheapest_tiles(const std::vector<ContractSize>& sizes, TileProducts products,
                                                      const DeviceFacts& device);
/// For a way that always has one.
[[nodiscard]] IntBindings cheapest_tile(const std::vector<ContractSize>& sizes, TileProducts products,
                                        const DeviceFacts& device);

}  // namespace kw
