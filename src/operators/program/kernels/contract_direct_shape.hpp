#pragma once
// The tunables of direct convolutions: DIRECT_THREADS threads of DIRECT_PIXELS pixels and DIRECT_CHANNELS channels
// each, that go DIRECT_UNROLL steps of the innermost loop at a time.

#include <string>
#include <vector>

#include "operators/program/kernels/contract_direct.hpp"
#include "operators/program/kernels/contract_shape.hpp"

namespace kw {

[[nodiscard]] DirectSize direct_size(const Contraction& contraction, const DirectContraction& direct);
/// Numbers of the filter that a block has of a channel at a time: of as many steps as fit.
[[nodiscard]] std::int64_t direct_places(const DirectContraction& direct);

[[nodiscard]] std::vector<Tunable> direct_tunables();
[[nodiscard]] std::vector<std::string> direct_constraints(const std::vector<ContractSize>& sizes);
/// Whether it is a convolution of so few channels and short sums that tensor cores may not pay: of 42 problems on an
/// H200, those of more rows took longer than by tiles or patches, and of rounded factors also those of longer sums.
[[nodiscard]] bool is_short_convolution(const ContractSize& size);
/// In clocks of a unit; `assignment` has every tunable.
[[nodiscard]] double direct_cost(const ContractSize& size, const DeviceFacts& device, const IntBindings& assignment);

}  // namespace kw
