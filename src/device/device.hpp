#pragma once
// What a worker process needs from a runtime: describe, compile, load, launch. One implementation per folder (opencl/,
// null/), one line per backend in device.cpp. Linked into the worker executable only; drivers are loaded with dlopen,
// so that the worker starts where none is installed.

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "hardware/device_facts.hpp"
#include "protocol/messages.hpp"

namespace kw {

namespace errc {
inline constexpr ErrorCode device_unavailable{"device.unavailable", ExitClass::environment};
inline constexpr ErrorCode device_refused{"device.refused"};  ///< the runtime refused a program, a buffer or a launch
}  // namespace errc

/// An opened device. Not thread-safe. Mistakes of a candidate come back as values; what a candidate's code does to the
/// process (a crash, a hang) is the host's to notice.
class Device {
 public:
  virtual ~Device() = default;

  [[nodiscard]] virtual const DeviceFacts& facts() const = 0;

  /// Compiles, and checks that every launched kernel exists and takes the planned arguments. Runs no candidate code.
  virtual BuildReply build(const BuildRequest& request) = 0;

  /// Before load(): a tool watches this process. Where the device can, every buffer then gets memory of its own, so
  /// that the tool sees where it ends, no launch waits for another, and the times mean nothing.
  virtual void be_watched() {}

  /// Loads the binaries and binds the plans' buffers to `arena`, which stays mapped for the process's life. May write
  /// to the private directory, must not run candidate code: the worker gives up its rights right after. Called once.
  virtual Result<void> load(const LoadRequest& request, std::span<std::byte> arena) = 0;

  /// Whether the driver goes on opening its device nodes after load(): lock_down then leaves them to it.
  [[nodiscard]] virtual bool keeps_opening_nodes() const { return false; }

  /// Whether the candidate's code is all in this process after load(), for its own processor, and the driver has all of
  /// its threads: lock_down then refuses more of both. Such code works on the arena itself, and the worker closes what
  /// lies around the buffers.
  [[nodiscard]] virtual bool has_all_code() const { return false; }

  /// Launches a loaded plan in order and waits; the arena then holds what the kernels wrote.
  virtual Result<LaunchReply> launch(const LaunchRequest& request) = 0;
  /// Whether a launch may ask it to fill buffers.
  [[nodiscard]] virtual bool fills_buffers() const { return false; }
};

/// A runtime that may be present. Both functions may load its driver; neither prints.
struct Backend {
  std::string_view name;  ///< the part of a device id before ':'
  Result<std::vector<DeviceFacts>> (*describe)();
  Result<std::unique_ptr<Device>> (*open)(const std::string& device_id);
  bool compiler_only = false;  ///< builds and runs nothing: described only when it is named
};

/// All of them, in the order devices are listed.
[[nodiscard]] std::span<const Backend> backends();

/// The devices of every backend, or the one asked for; DescribeReply::problem says why something is missing.
[[nodiscard]] DescribeReply describe(const DescribeRequest& request);

[[nodiscard]] Result<std::unique_ptr<Device>> open_device(const std::string& device_id);

/// Every slot of every plan lies inside the arena, every box of groups inside its grid, and every index exists. The
/// host is trusted to send such requests, but a wrong one must not become a stray write.
[[nodiscard]] Result<void> check_load_request(const LoadRequest& request, std::size_t arena_bytes);

/// For devices that cannot launch PlannedLaunch::only.
[[nodiscard]] Result<void> refuse_boxes(const LoadRequest& request);

}  // namespace kw
