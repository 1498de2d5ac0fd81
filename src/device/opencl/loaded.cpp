#include "device/opencl/loaded.hpp"

#include <algorithm>
#include <map>

#include "device/opencl/object_policy.hpp"
#include "device/opencl/pocl_cache.hpp"

namespace kw::opencl {
namespace {

/// How much of the arena beyond the outermost payloads is mirrored: enough for their guard zones.
constexpr std::size_t k_mirrored_guard_bytes = 4096;

Result<OwnedBuffer> create_buffer(const Session& session, cl_mem_flags flags, std::span<std::byte> bytes) {
  cl_int status = CL_SUCCESS;
  void* host = (flags & CL_MEM_USE_HOST_PTR) != 0 ? bytes.data() : nullptr;
  OwnedBuffer buffer(session.api.create_buffer(session.context.get(), flags, bytes.size(), host, &status),
                     session.api.release_mem_object);
  KW_TRY_VOID(check(status, fmt::format("clCreateBuffer({} bytes)", bytes.size())));
  return buffer;
}

bool is_passed(const LaunchPlan& plan, std::size_t buffer) {
  const auto is_it = [&](const KernelArg& arg) {
    const auto* passed = std::get_if<BufferArg>(&arg);
    return passed != nullptr && static_cast<std::size_t>(passed->buffer) == buffer;
  };
  return std::ranges::any_of(plan.launches,
                             [&](const PlannedLaunch& launch) { return std::ranges::any_of(launch.args, is_it); });
}

/// Buffers over the arena's own memory, by first byte and size.
using BuffersInPlace = std::map<std::pair<std::int64_t, std::int64_t>, std::shared_ptr<_cl_mem>>;

/// Of a plan that is one launch of many, few buffers are passed to a kernel, and Oclgrind keeps some hundred bytes for
/// each byte of a buffer: with all of them, those of a network of twelve kernels took 26 s. Plans of single launches
/// have buffers in common.
Result<PlanBuffers> buffers_in_place(const Session& session, const LoadedPlan& plan, std::span<std::byte> arena,
                                     BuffersInPlace& known) {
  PlanBuffers result;
  for (std::size_t index = 0; index < plan.slots.size(); ++index) {
    const ArenaSlot& slot = plan.slots[index];
    auto& passed = result.buffers.emplace_back();
    if (!is_passed(plan.plan, index)) continue;
    const auto payload = arena.subspan(static_cast<std::size_t>(slot.offset), static_cast<std::size_t>(slot.bytes));
    auto& buffer = known[{slot.offset, slot.bytes}];
    if (!buffer) {
      KW_TRY(buffer, create_buffer(session, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, payload));
    }
    passed = buffer;
    const bool input = plan.plan.buffers[index].role == BufferRole::input;
    if (session.device.tracks_writes && input) result.announced.emplace_back(index, payload);
  }
  return result;
}

Result<PlanBuffers> mirrored_buffers(const Session& session, const LoadedPlan& plan, std::span<std::byte> arena) {
  PlanBuffers result;
  if (plan.slots.empty()) return result;
  std::size_t begin = arena.size();
  std::size_t end = 0;
  for (const ArenaSlot& slot : plan.slots) {
    begin = std::min(begin, static_cast<std::size_t>(slot.offset));
    end = std::max(end, static_cast<std::size_t>(slot.offset + slot.bytes));
  }
  begin -= std::min(begin, k_mirrored_guard_bytes);
  end = std::min(arena.size(), end + k_mirrored_guard_bytes);
  result.mirrored = arena.subspan(begin, end - begin);
  KW_TRY(result.mirror, create_buffer(session, CL_MEM_READ_WRITE, result.mirrored));
  for (const ArenaSlot& slot : plan.slots) {
    const cl_buffer_region region{static_cast<std::size_t>(slot.offset) - begin, static_cast<std::size_t>(slot.bytes)};
    cl_int status = CL_SUCCESS;
    result.buffers.emplace_back(session.api.create_sub_buffer(result.mirror.get(), CL_MEM_READ_WRITE,
                                                              CL_BUFFER_CREATE_TYPE_REGION, &region, &status),
                                session.api.release_mem_object);
    KW_TRY_VOID(check(status, "clCreateSubBuffer"));
  }
  return result;
}

Result<void> set_arg(const Session& session, const PlannedLaunch& launch, cl_kernel kernel, cl_uint index,
                     const PlanBuffers& buffers) {
  const KernelArg& arg = launch.args[index];
  cl_int status = CL_SUCCESS;
  if (const auto* buffer = std::get_if<BufferArg>(&arg)) {
    const cl_mem memory = buffers.buffers[static_cast<std::size_t>(buffer->buffer)].get();
    status = session.api.set_kernel_arg(kernel, index, sizeof memory, &memory);
  } else if (const auto* number = std::get_if<IntArg>(&arg)) {
    status = session.api.set_kernel_arg(kernel, index, sizeof number->value, &number->value);
  } else {
    status = session.api.set_kernel_arg(kernel, index, static_cast<std::size_t>(launch.shared_bytes), nullptr);
  }
  return check(status, fmt::format("clSetKernelArg({}, argument {})", launch.kernel, index + 1));
}

Result<ReadyLaunch> prepare_launch(const Session& session, cl_program program, const PlannedLaunch& launch,
                                   const PlanBuffers& buffers) {
  KW_TRY(OwnedKernel kernel, create_kernel(session, program, launch.kernel));
  ReadyLaunch ready{std::move(kernel)};
  for (cl_uint index = 0; index < launch.args.size(); ++index) {
    KW_TRY_VOID(set_arg(session, launch, ready.kernel.get(), index, buffers));
  }
  for (int d = 0; d < 3; ++d) {
    ready.local[d] = static_cast<std::size_t>(launch.block[d]);
    ready.global[d] = static_cast<std::size_t>(launch.only ? launch.only->count[d] : launch.grid[d]) * ready.local[d];
    if (launch.only) ready.offset[d] = static_cast<std::size_t>(launch.only->first[d]) * ready.local[d];
  }
  return ready;
}

}  // namespace

Result<Loaded> load(const Session& session, const LoadRequest& request, std::span<std::byte> arena) {
  KW_TRY_VOID(check_load_request(request, arena.size()));
  Loaded loaded;
  for (const std::string& binary : request.binaries) {
    KW_TRY(OwnedProgram program, program_from_binary(session, binary));
    KW_TRY_VOID(check(session.api.build_program(program.get(), 1, &session.device.id, "", nullptr, nullptr),
                      "clBuildProgram from a binary"));
    loaded.programs.push_back(std::move(program));
  }
  // Once more, on the very files that this process will load: the process that built them had read the source.
  if (session.device.pocl) {
    if (request.inspection == Inspection::done) {
      auto found = forbidden_in_cache(session.pocl_cache);
      if (found) return fail(Error{errc::device_refused, *std::move(found), {}});
    }
    KW_TRY_VOID(load_cached_kernels(session.pocl_cache));
    loaded.in_process = true;
  }
  BuffersInPlace known;
  for (const LoadedPlan& plan : request.plans) {
    if (session.device.pocl) reuse_generic_variants(session.pocl_cache, plan.plan.launches);
    const bool in_place = session.device.facts.kind == DeviceKind::cpu;
    ReadyPlan ready;
    KW_TRY(ready.buffers,
           in_place ? buffers_in_place(session, plan, arena, known) : mirrored_buffers(session, plan, arena));
    for (const PlannedLaunch& launch : plan.plan.launches) {
      cl_program program = loaded.programs[static_cast<std::size_t>(plan.binary)].get();
      KW_TRY(ReadyLaunch one, prepare_launch(session, program, launch, ready.buffers));
      ready.launches.push_back(std::move(one));
    }
    loaded.plans.push_back(std::move(ready));
  }
  return loaded;
}

}  // namespace kw::opencl
