#include "device/cuda/loaded.hpp"

#include <algorithm>

#include "device/cuda/fills.hpp"

namespace kw::cuda {
namespace {

/// How much of the arena before the first and after the last buffer is mirrored: the whole guard zone.
constexpr std::size_t k_mirrored_guard_bytes = std::size_t{64} << 10;
constexpr std::int64_t k_shared_bytes_for_all = std::int64_t{48} << 10;

/// Where the plan's stretch of the arena begins and ends.
std::pair<std::size_t, std::size_t> mirrored_range(const LoadedPlan& plan, std::size_t arena_bytes) {
  if (plan.slots.empty()) return {0, 0};
  std::size_t begin = arena_bytes;
  std::size_t end = 0;
  for (const ArenaSlot& slot : plan.slots) {
    begin = std::min(begin, static_cast<std::size_t>(slot.offset));
    end = std::max(end, static_cast<std::size_t>(slot.offset + slot.bytes));
  }
  begin -= std::min(begin, k_mirrored_guard_bytes);
  return {begin, std::min(arena_bytes, end + k_mirrored_guard_bytes)};
}

Result<void> allow_shared_memory(const Session& session, const PlannedLaunch& launch, Function function) {
  const DriverApi& api = session.api;
  int declared = 0;
  KW_TRY_VOID(check(api, api.function_attribute(&declared, FunctionAttribute::static_shared_bytes, function),
                    "cuFuncGetAttribute"));
  if (declared + launch.shared_bytes > session.facts.shared_bytes_per_block) {
    return fail(errc::device_refused, "kernel '{}' needs {} bytes of shared memory, the device has {} per block",
                launch.kernel, declared + launch.shared_bytes, session.facts.shared_bytes_per_block);
  }
  if (declared + launch.shared_bytes <= k_shared_bytes_for_all) return {};
  return check(api,
               api.set_function_attribute(function, FunctionAttribute::max_dynamic_shared_bytes,
                                          static_cast<int>(launch.shared_bytes)),
               fmt::format("cuFuncSetAttribute({} bytes of dynamic shared memory for '{}')", launch.shared_bytes,
                           launch.kernel));
}

Result<ReadyLaunch> prepare_launch(const Session& session, Module module, const PlannedLaunch& launch,
                                   const std::vector<DeviceAddress>& buffers) {
  ReadyLaunch ready;
  ready.kernel = launch.kernel;
  KW_TRY_VOID(check(session.api, session.api.get_function(&ready.function, module, launch.kernel.c_str()),
                    fmt::format("cuModuleGetFunction({})", launch.kernel)));
  KW_TRY_VOID(allow_shared_memory(session, launch, ready.function));
  for (std::size_t d = 0; d < 3; ++d) {
    ready.grid[d] = static_cast<unsigned>(launch.grid[d]);
    ready.block[d] = static_cast<unsigned>(launch.block[d]);
  }
  ready.dynamic_shared_bytes = static_cast<unsigned>(launch.shared_bytes);
  for (const KernelArg& arg : launch.args) {
    if (const auto* buffer = std::get_if<BufferArg>(&arg)) {
      ready.values.push_back(buffers[static_cast<std::size_t>(buffer->buffer)]);
    } else if (const auto* number = std::get_if<IntArg>(&arg)) {
      ready.values.push_back(static_cast<std::uint32_t>(number->value));
    } else {
      return fail(errc::device_refused, "kernel '{}' is passed shared memory as an argument", launch.kernel);
    }
  }
  return ready;
}

Result<DeviceAddress> allocate(const Session& session, std::size_t bytes) {
  DeviceAddress memory = 0;
  KW_TRY_VOID(check(session.api, session.api.allocate(&memory, bytes), fmt::format("cuMemAlloc({} bytes)", bytes)));
  return memory;
}

/// Device memory for a plan, and where its buffers lie in it.
struct Placed {
  std::vector<Mirror> mirrors;
  std::vector<DeviceAddress> buffers;
};

Placed place_together(const LoadedPlan& plan, std::span<std::byte> arena, DeviceAddress memory) {
  const auto [begin, end] = mirrored_range(plan, arena.size());
  Placed placed;
  if (end > begin) placed.mirrors.push_back({arena.subspan(begin, end - begin), memory});
  // Wraps around where the stretch does not begin the arena; adding an offset wraps back.
  const DeviceAddress arena_address = memory - begin;
  for (const ArenaSlot& slot : plan.slots) {
    placed.buffers.push_back(arena_address + static_cast<DeviceAddress>(slot.offset));
  }
  return placed;
}

Result<Placed> place_apart(const Session& session, const LoadedPlan& plan, std::span<std::byte> arena) {
  Placed placed;
  for (const ArenaSlot& slot : plan.slots) {
    KW_TRY(const DeviceAddress memory, allocate(session, static_cast<std::size_t>(slot.bytes)));
    placed.mirrors.push_back(
        {arena.subspan(static_cast<std::size_t>(slot.offset), static_cast<std::size_t>(slot.bytes)), memory});
    placed.buffers.push_back(memory);
  }
  return placed;
}

/// One allocation for all plans, as large as the largest needs; nothing where each buffer gets its own.
Result<DeviceAddress> shared_memory_of(const Session& session, const LoadRequest& request, std::size_t arena_bytes) {
  std::size_t most = 0;
  for (const LoadedPlan& plan : request.plans) {
    const auto [begin, end] = mirrored_range(plan, arena_bytes);
    most = std::max(most, end - begin);
  }
  if (most == 0 || session.watched) return DeviceAddress{0};
  return allocate(session, most);
}

std::vector<DeviceBuffer> buffers_of(const LoadedPlan& plan, std::span<std::byte> arena,
                                     const std::vector<DeviceAddress>& addresses) {
  std::vector<DeviceBuffer> buffers;
  for (std::size_t i = 0; i < plan.slots.size(); ++i) {
    const ArenaSlot& slot = plan.slots[i];
    buffers.push_back({arena.subspan(static_cast<std::size_t>(slot.offset), static_cast<std::size_t>(slot.bytes)),
                       addresses[i], plan.plan.buffers[i].dtype});
  }
  return buffers;
}

/// Memory whose pages stay in place is copied at the speed of the bus; anything else a driver copies twice. Where it
/// refuses, copies are slower and nothing else changes. Pages that are new have to be cleared for it, which takes
/// longer than a copy: 1.35 s for 2 GB, when 537 MB are copied in 10 ms, and in 40 ms without (H100, 2026-11-27). Where
/// the device fills what is large, most of them are never used.
void keep_in_place(const Session& session, std::span<std::byte> arena) {
  if (session.api.register_host == nullptr || session.watched || session.numbers || arena.empty()) return;
  static_cast<void>(session.api.register_host(arena.data(), arena.size(), 0));
}

}  // namespace

Result<std::vector<ReadyPlan>> load(Session& session, const LoadRequest& request, std::span<std::byte> arena) {
  KW_TRY_VOID(check_load_request(request, arena.size()));
  KW_TRY_VOID(refuse_boxes(request));
  std::vector<Module> modules;
  for (const std::string& binary : request.binaries) {
    KW_TRY_VOID(
        check(session.api, session.api.load_module(&modules.emplace_back(), binary.data()), "cuModuleLoadData"));
  }
  if (!request.number_kernels.empty()) {
    KW_TRY(session.numbers, load_number_kernels(session, request.number_kernels));
  }
  KW_TRY(const DeviceAddress memory, shared_memory_of(session, request, arena.size()));
  keep_in_place(session, arena);
  std::vector<ReadyPlan> plans;
  for (const LoadedPlan& plan : request.plans) {
    Placed placed;
    if (session.watched) {
      KW_TRY(placed, place_apart(session, plan, arena));
    } else {
      placed = place_together(plan, arena, memory);
    }
    ReadyPlan ready{std::move(placed.mirrors), buffers_of(plan, arena, placed.buffers), {}};
    for (const PlannedLaunch& launch : plan.plan.launches) {
      const auto module = modules[static_cast<std::size_t>(plan.binary)];
      KW_TRY(ReadyLaunch one, prepare_launch(session, module, launch, placed.buffers));
      ready.launches.push_back(std::move(one));
    }
    plans.push_back(std::move(ready));
  }
  return plans;
}

}  // namespace kw::cuda
