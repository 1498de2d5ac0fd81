#pragma once
// A tensor program in as few launches as its groups allow, each written by the family that suits it.

#include "base/result.hpp"
#include "codegen/dialect.hpp"
#include "hardware/device_facts.hpp"
#include "operators/program/kernels/program_bundle.hpp"
#include "problem/problem.hpp"
#include "record/bundle.hpp"

namespace kw {

/// One bundle serves every shape of the module.
[[nodiscard]] Result<Bundle> emit_program_fused(Dialect dialect, const Problem& problem, const DeviceFacts& device,
                                                ContractWays ways = {});

}  // namespace kw
