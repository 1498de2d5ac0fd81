#include <chrono>
#include <vector>

#include "device/opencl/loaded.hpp"

namespace kw::opencl {
namespace {

Result<void> upload(const Session& session, const PlanBuffers& buffers) {
  for (const auto& [index, memory] : buffers.announced) {
    KW_TRY_VOID(check(session.api.enqueue_write_buffer(session.queue.get(), buffers.buffers[index].get(), CL_TRUE, 0,
                                                       memory.size(), memory.data(), 0, nullptr, nullptr),
                      "clEnqueueWriteBuffer"));
  }
  if (!buffers.mirror) return {};  // a CPU device works in the arena itself
  return check(session.api.enqueue_write_buffer(session.queue.get(), buffers.mirror.get(), CL_TRUE, 0,
                                                buffers.mirrored.size(), buffers.mirrored.data(), 0, nullptr, nullptr),
               "clEnqueueWriteBuffer");
}

Result<void> download(const Session& session, const PlanBuffers& buffers) {
  if (!buffers.mirror) return {};
  return check(session.api.enqueue_read_buffer(session.queue.get(), buffers.mirror.get(), CL_TRUE, 0,
                                               buffers.mirrored.size(), buffers.mirrored.data(), 0, nullptr, nullptr),
               "clEnqueueReadBuffer");
}

/// Fills twice the last-level cache on the device. Not on a CPU, where the host does it (see LaunchRequest).
Result<void> flush_caches(const Session& session) {
  const DeviceFacts& facts = session.device.facts;
  if (facts.kind == DeviceKind::cpu || facts.last_level_cache_bytes <= 0) return {};
  const auto bytes = static_cast<std::size_t>(facts.last_level_cache_bytes) * 2;
  cl_int status = CL_SUCCESS;
  const OwnedBuffer trash(session.api.create_buffer(session.context.get(), CL_MEM_READ_WRITE, bytes, nullptr, &status),
                          session.api.release_mem_object);
  KW_TRY_VOID(check(status, "clCreateBuffer to flush the cache"));
  const cl_uint pattern = 0;
  KW_TRY_VOID(check(session.api.enqueue_fill_buffer(session.queue.get(), trash.get(), &pattern, sizeof pattern, 0,
                                                    bytes / sizeof pattern * sizeof pattern, 0, nullptr, nullptr),
                    "clEnqueueFillBuffer"));
  return check(session.api.finish(session.queue.get()), "clFinish");
}

/// clFinish reports success even when a kernel failed; only the event knows.
Result<void> check_event(const Session& session, cl_event event) {
  cl_int execution = CL_COMPLETE;
  KW_TRY_VOID(
      check(session.api.get_event_info(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof execution, &execution, nullptr),
            "clGetEventInfo"));
  return execution < 0 ? check(execution, "a launch") : Result<void>{};
}

}  // namespace

Result<LaunchReply> launch(const Session& session, const ReadyPlan& plan, bool cold) {
  KW_TRY_VOID(upload(session, plan.buffers));
  if (cold) KW_TRY_VOID(flush_caches(session));
  std::vector<OwnedEvent> events;
  events.reserve(plan.launches.size());
  const auto begin = std::chrono::steady_clock::now();
  for (const ReadyLaunch& one : plan.launches) {
    cl_event event = nullptr;
    const cl_int status = session.api.enqueue_nd_range_kernel(session.queue.get(), one.kernel.get(), 3, one.offset,
                                                              one.global, one.local, 0, nullptr, &event);
    KW_TRY_VOID(check(status, "clEnqueueNDRangeKernel"));
    events.emplace_back(event, session.api.release_event);
  }
  KW_TRY_VOID(check(session.api.finish(session.queue.get()), "clFinish"));
  const auto took = std::chrono::steady_clock::now() - begin;
  for (const OwnedEvent& event : events) KW_TRY_VOID(check_event(session, event.get()));
  KW_TRY_VOID(download(session, plan.buffers));
  return LaunchReply{std::chrono::nanoseconds(took).count()};
}

}  // namespace kw::opencl
