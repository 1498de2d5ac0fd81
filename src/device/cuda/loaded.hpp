#pragma once
// Cubins made ready to launch over device memory that mirrors the arena.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "device/cuda/session.hpp"
#include "protocol/messages.hpp"

namespace kw::cuda {

struct ReadyLaunch {
  std::string kernel;
  Function function = nullptr;
  std::array<unsigned, 3> grid{1, 1, 1};
  std::array<unsigned, 3> block{1, 1, 1};
  unsigned dynamic_shared_bytes = 0;
  std::vector<std::uint64_t> values;  ///< of the arguments: addresses, or ints in the low half
};

/// The plan's stretch of the arena, guard zones included, and the device memory that mirrors it.
struct Mirror {
  std::span<std::byte> host;
  DeviceAddress device = 0;
};

/// A buffer of the plan without its guard zones.
struct DeviceBuffer {
  std::span<std::byte> host;  ///< in the arena
  DeviceAddress device = 0;
  DType dtype = DType::f32;
};

struct ReadyPlan {
  std::vector<Mirror> mirrors;  ///< one; of a session that is watched, one per buffer, without guard zones
  std::vector<DeviceBuffer> buffers;
  std::vector<ReadyLaunch> launches;
};

/// One device allocation serves every plan: only one is used at a time; where a tool watches, every buffer has its own.
/// Runs no candidate code.
[[nodiscard]] Result<std::vector<ReadyPlan>> load(Session& session, const LoadRequest& request,
                                                  std::span<std::byte> arena);

/// Uploads buffers and guard zones, fills the buffers that the request names, empties the L2 cache when it is to be
/// cold, launches everything, waits for the whole device, downloads. The time is between two events on our stream
/// around the launches, which are all queued before the first may start; it must not exceed what the host's clock saw.
/// After an error that stays, every call says so.
[[nodiscard]] Result<LaunchReply> launch(Session& session, const ReadyPlan& plan, const LaunchRequest& request);

}  // namespace kw::cuda
