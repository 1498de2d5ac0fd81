#pragma once
// The families of kernels for groups of stages. What no family takes, plain writes.

#include <string_view>
#include <vector>

#include "operators/program/kernels/program_bundle.hpp"

namespace kw {

struct KernelFamily {
  std::string_view name;  ///< as programs.md calls it: "contract"
  bool (*takes)(const GroupContext& context, const StageGroup& group);
  GroupKernels (*write)(const GroupContext& context, const StageGroup& group);
};

/// In the order in which they are asked; the last one, plain, takes every group of one stage.
[[nodiscard]] const std::vector<KernelFamily>& kernel_families();

/// The first family that takes the group.
[[nodiscard]] const KernelFamily& family_of(const GroupContext& context, const StageGroup& group);

}  // namespace kw
