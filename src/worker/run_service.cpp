#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>

#include "device/device.hpp"
#include "sandbox/heap_reserve.hpp"
#include "sandbox/sandbox.hpp"
#include "worker/arena_fence.hpp"
#include "worker/services.hpp"

namespace kw {
namespace {

/// The memory that this process shares with the host.
class SharedArena {
 public:
  explicit SharedArena(int fd) : fd_(fd) {}

  /// Before it is known how much is needed. Of a file that has a size already all pages are mapped: it was another
  /// process's, and the host maps it still. Of another one `bytes` are cleared; its size stays what the host makes it,
  /// which it may do at the same time.
  void take_pages(std::int64_t bytes) {
    const std::int64_t length = bytes > 0 ? file_bytes() : 0;
    if (length > 0 && map(length)) {
      // Nothing depends on it: what is not mapped now is mapped when it is used.
      static_cast<void>(::madvise(memory_.data(), memory_.size(), MADV_POPULATE_WRITE));
    } else if (bytes > 0) {
      static_cast<void>(::fallocate(fd_, FALLOC_FL_KEEP_SIZE, 0, bytes));
    }
  }

  /// Maps so many bytes, once, and closes the descriptor; the mapping lasts as long as the process.
  Result<std::span<std::byte>> open(std::int64_t bytes) {
    if (bytes < 1 || file_bytes() < bytes) {
      return fail(errc::device_refused, "the arena of {} bytes was not handed over", bytes);
    }
    const auto length = static_cast<std::size_t>(bytes);
    if (memory_.size() < length && !map(bytes)) {
      return fail(errc::device_refused, "the arena of {} bytes cannot be mapped: {}", bytes, std::strerror(errno));
    }
    ::close(fd_);
    return memory_.first(length);
  }

 private:
  /// 0 where the host has not handed over a file.
  [[nodiscard]] std::int64_t file_bytes() const {
    struct stat file = {};
    return ::fstat(fd_, &file) == 0 ? file.st_size : 0;
  }
  [[nodiscard]] bool map(std::int64_t bytes) {
    const auto length = static_cast<std::size_t>(bytes);
    void* memory = ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
    if (memory == MAP_FAILED) return false;
    memory_ = {static_cast<std::byte*>(memory), length};
    return true;
  }

  int fd_;
  std::span<std::byte> memory_;
};

/// How a run process lives with its candidate.
enum class RightsAfterLoad : std::uint8_t { none, as_before };

std::vector<std::vector<ArenaSlot>> slots_of(const LoadRequest& request) {
  std::vector<std::vector<ArenaSlot>> slots;
  for (const LoadedPlan& plan : request.plans) slots.push_back(plan.slots);
  return slots;
}

/// A fence where kernels run on the arena itself.
Result<std::optional<ArenaFence>> load_candidate(Device& device, const LoadRequest& request, SharedArena& shared,
                                                 RightsAfterLoad rights, int channel) {
  KW_TRY(const std::span<std::byte> arena, shared.open(request.arena_bytes));
  KW_TRY_VOID(device.load(request, arena));
  std::optional<ArenaFence> fence;
  if (device.has_all_code()) fence.emplace(arena, slots_of(request));
  if (rights == RightsAfterLoad::as_before) return fence;
  // From here on candidate code may run. What it could use has to be gone by now.
  if (device.has_all_code()) {
    KW_TRY_VOID(lock_down_for_kernels({channel, arena}));
  } else {
    KW_TRY_VOID(lock_down(device.keeps_opening_nodes() ? OpenForWriting::as_granted : OpenForWriting::never));
  }
  return fence;
}

Result<LaunchReply> launch_fenced(Device& device, std::optional<ArenaFence>& fence, const LaunchRequest& request) {
  if (!request.fills.empty() && !device.fills_buffers()) {
    return fail(errc::device_refused, "{} does not fill buffers", device.facts().id);
  }
  if (fence) KW_TRY_VOID(fence->around(request.plan));
  return device.launch(request);
}

void serve(Channel& channel, Result<std::unique_ptr<Device>> device, SharedArena arena, RightsAfterLoad rights) {
  bool loaded = false;
  std::optional<ArenaFence> fence;
  while (const auto message = channel.receive()) {
    WorkerMessage reply = LaunchFailure{"a run process loads one candidate, then launches it"};
    if (!device) {
      reply = LaunchFailure{device.error().to_string()};
    } else if (const auto* load = std::get_if<LoadRequest>(&*message); load != nullptr && !loaded) {
      auto result = load_candidate(**device, *load, arena, rights, channel.socket());
      loaded = result.has_value();
      reply = loaded ? WorkerMessage{LoadReply{}} : LaunchFailure{result.error().message};
      if (loaded) fence = *std::move(result);
    } else if (const auto* launch = std::get_if<LaunchRequest>(&*message); launch != nullptr && loaded) {
      const auto result = launch_fenced(**device, fence, *launch);
      reply = result ? WorkerMessage{*result} : LaunchFailure{result.error().message};
    }
    if (!channel.send(reply)) break;
  }
}

/// What serve_watched() was told.
struct Watched {
  std::string device_id;
  SandboxSpec rights;
  bool unlocked = false;
};

Watched read_arguments(const std::vector<std::string>& arguments) {
  Watched watched{arguments.front(), {}, false};
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    if (arguments[i] == "--unlocked") watched.unlocked = true;
    if (i + 1 == arguments.size()) break;
    if (arguments[i] == "--read") watched.rights.readable.emplace_back(arguments[++i]);
    if (arguments[i] == "--node") watched.rights.devices.emplace_back(arguments[++i]);
  }
  return watched;
}

Result<std::unique_ptr<Device>> open_watched(const Watched& watched) {
  KW_TRY_VOID(restrict_own_paths(watched.rights));
  KW_TRY(auto device, open_device(watched.device_id));
  device->be_watched();
  return device;
}

}  // namespace

int serve_launches(Channel& channel, const std::string& device_id, int arena_fd, std::int64_t arena_bytes) {
  keep_one_heap();  // before the driver has threads
  auto device = open_device(device_id);
  SharedArena arena(arena_fd);
  arena.take_pages(arena_bytes);
  serve(channel, std::move(device), arena, RightsAfterLoad::none);
  // Not a return from main: drivers' destructors would run candidate code and may hang.
  ::_exit(0);
}

int serve_watched(Channel& channel, const std::vector<std::string>& arguments, int arena_fd) {
  const Watched watched = read_arguments(arguments);
  serve(channel, open_watched(watched), SharedArena(arena_fd),
        watched.unlocked ? RightsAfterLoad::as_before : RightsAfterLoad::none);
  ::_exit(0);
}

}  // namespace kw
