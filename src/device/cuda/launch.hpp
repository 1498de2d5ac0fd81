#pragma once
// Running a ready plan on a GPU and timing it.

#include "device/cuda/loaded.hpp"

namespace kw::cuda {

/// Uploads buffers and guard zones, empties the L2 cache when `cold`, launches everything, waits for the whole device,
/// downloads. The time is between two events on our stream around the launches, which are all queued before the first
/// may start; it must not exceed what the host's clock saw. After an error that stays, every call says so.
[[nodiscard]] Result<LaunchReply> launch(Session& session, const ReadyPlan& plan, bool cold);

}  // namespace kw::cuda
