#pragma once
// Running a ready plan and timing it.

#include "device/opencl/loaded.hpp"

namespace kw::opencl {

/// Uploads where the arena is mirrored, flushes when asked to, launches everything, waits, downloads. The time is from
/// before the first launch is queued until all are done: what a caller waits for.
[[nodiscard]] Result<LaunchReply> launch(const Session& session, const ReadyPlan& plan, bool cold);

}  // namespace kw::opencl
