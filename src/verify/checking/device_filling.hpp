#pragma once
// What a device fills before a launch, so that nobody copies it: inputs that are normal numbers of a key, and poison.
// Afterwards the device has compared all of such an input with its numbers, and the host some parts of it.

#include "verify/checking/case_runner.hpp"
#include "verify/checking/stored_inputs.hpp"

namespace kw {

/// Nothing where the process fills no buffers. Small buffers are copied: a launch of a kernel takes longer.
[[nodiscard]] LaunchFilling device_filling(const LaunchPlan& plan, const KernelProcess& process,
                                           const StoredInputs& inputs, const CaseMode& mode);
/// Whether the device counts the useless elements of that buffer, and parts of it alone come back.
[[nodiscard]] bool is_counted(const LaunchFilling& filling, std::size_t buffer);
[[nodiscard]] bool is_filled(const LaunchFilling& filling, std::size_t buffer);

/// Whether the parts of this input that have come back are what they were; `buffer` is its index in the plan.
[[nodiscard]] bool parts_are_unchanged(const LaunchFilling& filling, std::size_t buffer, KernelProcess& process,
                                       const StoredInputs& inputs, std::size_t input);

}  // namespace kw
