#pragma once
// The tunables of products by strips of columns: STRIP_WARPS strips at a time, each in STRIP_STAGES places, by TILE_M
// rows, PASS_M of them at a time, and TILE_K steps.

#include <string>
#include <vector>

#include "operators/program/kernels/contract_shape.hpp"

namespace kw {

[[nodiscard]] std::vector<Tunable> strip_tunables();
/// `rounded`: no factor is split.
[[nodiscard]] std::vector<std::string> strip_constraints(bool rounded);
/// Whether the product is so small for its columns that strips are the better way, by estimate.
[[nodiscard]] bool suits_strips(const ContractSize& size, const DeviceFacts& device);
/// In clocks of a unit; `assignment` has every tunable.
[[nodiscard]] double strip_cost(const ContractSize& size, const DeviceFacts& device, const IntBindings& assignment);

}  // namespace kw
