#pragma once
// What the kernels of kernels/program/contract.cu have for each way of multiplying tiles: sections of the text,
// functions that they call, and names that they use.

#include <set>
#include <string>
#include <vector>

#include "codegen/text.hpp"
#include "operators/program/kernels/contract_shape.hpp"

namespace kw {

/// Locals of the texts, which no axis may be called.
[[nodiscard]] const std::vector<std::string>& contract_gpu_locals();
/// Those that tails.cu has besides.
[[nodiscard]] const std::vector<std::string>& tail_locals();

/// Whether tiles are those of contract.cu's warpgroups.
[[nodiscard]] bool by_warpgroups(TileProducts products);

/// The section of contract.cu that has this name for them, filled.
[[nodiscard]] std::string product_section(const std::string& name, TileProducts products, bool rounded,
                                          const Fillings& fillings = {});

/// Sections of contract_functions.cu, as GroupKernels::own_helpers has them; those of halves and patches have more.
[[nodiscard]] std::set<std::string> product_helpers(TileProducts products, bool rounded);

}  // namespace kw
