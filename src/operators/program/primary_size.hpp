#pragma once
// A module's own sizes where they are too large for a machine: KernelBench has inputs of 16 GiB.

#include <string>
#include <vector>

#include "operators/program/program_detail.hpp"
#include "problem/operator.hpp"

namespace kw {

/// Bytes of all tensors of the graph together, and steps of an obvious evaluation.
[[nodiscard]] ModuleLimits size_of_program(const Program& program);

/// The extents of `axes` that fit: the largest axis is halved, as long as one is too many, in a way that the module is
/// still the same program. Where nothing can be halved any more, the smallest that was reached.
[[nodiscard]] Axes fitting_axes(const ModuleSource& module, const std::vector<std::string>& axes,
                                const Program& primary, const ModuleLimits& most);

}  // namespace kw
