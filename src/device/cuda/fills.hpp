#pragma once
// Buffers that the device fills itself before a launch, and looks at after it, so that gigabytes of data are not copied
// there and back. The kernels are the host's own; they run in the candidate's process while none of its kernels does.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "device/cuda/loaded.hpp"

namespace kw::cuda {

/// Makes the host's kernels ready (LoadRequest::number_kernels), with the tables that they read.
[[nodiscard]] Result<NumberKernels> load_number_kernels(const Session& session, const std::string& binary);

/// What of the plan's mirrors the host copies still: everything but the bodies of the filled buffers.
[[nodiscard]] std::vector<Mirror> left_to_copy(const ReadyPlan& plan, std::span<const BufferFill> fills);
/// Those parts of filled buffers, as a mirror each.
[[nodiscard]] Result<std::vector<Mirror>> parts_to_return(const ReadyPlan& plan, const LaunchRequest& request);

/// Queues the fills on the session's stream. Refuses one that the plan or the session does not allow, and one buffer
/// that is filled twice.
[[nodiscard]] Result<void> fill_buffers(Session& session, const ReadyPlan& plan, std::span<const BufferFill> fills);
/// Draws once more and compares: the buffers of random tensors that hold something else now. Waits for the device.
[[nodiscard]] Result<std::vector<std::int64_t>> changed_buffers(Session& session, const ReadyPlan& plan,
                                                                std::span<const BufferFill> fills);

/// Of the buffers that the request counts. Waits for the device.
[[nodiscard]] Result<std::vector<UselessElements>> useless_elements(Session& session, const ReadyPlan& plan,
                                                                    const LaunchRequest& request);

}  // namespace kw::cuda
