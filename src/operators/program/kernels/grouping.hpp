#pragma once
// How a program is cut into groups for a device.

#include "codegen/dialect.hpp"
#include "hardware/device_facts.hpp"
#include "operators/program/kernels/program_bundle.hpp"

namespace kw {

/// The problem's module simplified, lowered and grouped. errc::program_unsupported for an operator without kernels.
[[nodiscard]] Result<GroupedProgram> grouped_for(const Problem& problem, Dialect dialect, const DeviceFacts& device,
                                                 ContractWays ways = {});

/// The stages fused, long reductions split, and what works on the same rows together where the language has a family
/// for it. Decided for the extents that the module was read with.
[[nodiscard]] GroupedProgram grouped_for(StageProgram program, Dialect dialect, const DeviceFacts& device,
                                         ContractWays ways = {});

}  // namespace kw
