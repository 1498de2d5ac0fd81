#include "device/device.hpp"

namespace kw {

DescribeReply describe(const DescribeRequest& request) {
  DescribeReply reply;
  for (const Backend& backend : backends()) {
    const bool asked = request.device_id.starts_with(backend.name);
    if (request.device_id.empty() ? backend.compiler_only : !asked) continue;
    auto devices = backend.describe();
    if (!devices) {
      if (!reply.problem.empty()) reply.problem += "\n";
      reply.problem += devices.error().to_string();
      continue;
    }
    for (DeviceFacts& facts : *devices) {
      if (request.device_id.empty() || facts.id == request.device_id) reply.devices.push_back(std::move(facts));
    }
  }
  if (reply.devices.empty() && reply.problem.empty()) {
    reply.problem = fmt::format("no runtime has a device '{}'", request.device_id);
  }
  return reply;
}

Result<std::unique_ptr<Device>> open_device(const std::string& device_id) {
  const std::string_view name = std::string_view(device_id).substr(0, device_id.find(':'));
  for (const Backend& backend : backends()) {
    if (backend.name == name) return backend.open(device_id);
  }
  return fail(errc::device_unavailable, "no runtime is called '{}' (device '{}')", name, device_id);
}

namespace {

Result<void> check_box(const PlannedLaunch& launch) {
  if (!launch.only) return {};
  for (std::size_t d = 0; d < 3; ++d) {
    const std::int64_t first = launch.only->first[d];
    const std::int64_t count = launch.only->count[d];
    if (first >= 0 && count >= 1 && first < launch.grid[d] && count <= launch.grid[d] - first) continue;
    return fail(errc::device_refused, "{} groups of kernel {} from number {} on leave its grid of {}", count,
                launch.kernel, first, launch.grid[d]);
  }
  return {};
}

}  // namespace

Result<void> refuse_boxes(const LoadRequest& request) {
  for (const LoadedPlan& loaded : request.plans) {
    for (const PlannedLaunch& launch : loaded.plan.launches) {
      if (launch.only) {
        return fail(errc::device_refused, "this device launches whole grids, and not some groups of {}", launch.kernel);
      }
    }
  }
  return {};
}

Result<void> check_load_request(const LoadRequest& request, std::size_t arena_bytes) {
  const auto limit = static_cast<std::int64_t>(arena_bytes);
  for (const LoadedPlan& loaded : request.plans) {
    if (loaded.binary < 0 || loaded.binary >= static_cast<std::int64_t>(request.binaries.size())) {
      return fail(errc::device_refused, "a plan names binary {} of {}", loaded.binary, request.binaries.size());
    }
    if (loaded.slots.size() != loaded.plan.buffers.size()) {
      return fail(errc::device_refused, "a plan has {} buffers but {} places for them", loaded.plan.buffers.size(),
                  loaded.slots.size());
    }
    for (const ArenaSlot& slot : loaded.slots) {
      if (slot.offset < 0 || slot.bytes < 1 || slot.offset > limit || slot.bytes > limit - slot.offset) {
        return fail(errc::device_refused, "a buffer at {} of {} bytes leaves the arena of {} bytes", slot.offset,
                    slot.bytes, limit);
      }
    }
    for (const PlannedLaunch& launch : loaded.plan.launches) {
      KW_TRY_VOID(check_box(launch));
      for (const KernelArg& arg : launch.args) {
        const auto* buffer = std::get_if<BufferArg>(&arg);
        if (buffer != nullptr &&
            (buffer->buffer < 0 || static_cast<std::size_t>(buffer->buffer) >= loaded.slots.size())) {
          return fail(errc::device_refused, "kernel {} names buffer {} of {}", launch.kernel, buffer->buffer,
                      loaded.slots.size());
        }
      }
    }
  }
  return {};
}

}  // namespace kw
