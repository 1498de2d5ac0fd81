#pragma once
// A module's own sizes where they are too large for a machine: KernelBench has inputs of 16 GiB.

#include <map>
#include <string>
#include <vector>

#include "operators/program/program_detail.hpp"
#include "problem/operator.hpp"

namespace kw {

/// Bytes as ModuleLimits counts them, and steps of an obvious evaluation.
[[nodiscard]] ModuleLimits size_of_program(const Program& program);

struct FittingAxes {
  Axes extents;
  std::map<std::string, std::vector<std::int64_t>> before;  ///< what halved axes had before, their own extent first
};

/// The extents of `axes` that fit: the largest axis is halved, with those that are as large where it cannot be alone,
/// as long as one is too many, in a way that the module is still the same program. An axis stays that takes less than
/// a 64th away, and tensors without any axis, as most parameters of a network, may be followed by as many bytes of
/// others. Where nothing can be halved any more, the smallest that was reached.
[[nodiscard]] FittingAxes fitting_axes(const ModuleSource& module, const std::vector<std::string>& axes,
                                       const Program& primary, ModuleLimits most);

/// Sizes with one axis as large as it was before, the fewest halvings undone first: for a module that has nothing to
/// compute at the size that fits, as a normalisation over groups of one channel.
[[nodiscard]] std::vector<Axes> larger_sizes(const FittingAxes& fitting);

}  // namespace kw
