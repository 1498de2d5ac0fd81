#pragma once
// The real ExecutionBackend: sandboxed processes of the worker executable. Some build, candidate after candidate (as
// many as builds are asked for at once), and are replaced when they are lost; every candidate that runs gets a process
// of its own. While a build is waited for, the next run process already starts and opens its driver, so that start()
// costs what loading costs. It has seen no candidate and is as fresh as a new one.
//
// Threads: build() may be called from several threads at once, and start() from one more. A KernelProcess
// belongs to one thread at a time and must not outlive its backend.

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sandbox/sandbox.hpp"
#include "verify/processes/execution_backend.hpp"
#include "verify/processes/gpu_tool.hpp"

namespace kw {

struct Language;

struct BackendOptions {
  std::string device_id;         ///< as DeviceFacts::id; "" takes the first of `target` that is no test device
  std::string target = {};       ///< for an empty device_id and for "sim", its first of the target; "" is any
  std::filesystem::path worker;  ///< the worker executable; "" looks beside the running one
  /// For each process. A run process may use as much again as its buffers take; processes and CPU seconds are raised
  /// to what a driver with a thread per core needs.
  SandboxLimits limits = {};
  SandboxTier at_most = SandboxTier::c;
  SandboxTier required = SandboxTier::none;                           ///< errc::sandbox_tier when the probe finds less
  std::vector<std::pair<std::string, std::string>> environment = {};  ///< for the workers, such as another driver
  bool standby = true;  ///< false starts every run process only when it is needed
  int gpu_reserve = 1;  ///< run processes that wait with a GPU's driver loaded, which takes a tenth of a second
  std::optional<GpuTool> tool = {};  ///< around every run process
  /// Where builds of own sources are kept from run to run (build_cache.hpp); "" keeps none. Not used where the probe
  /// finds no tier of the sandbox at all, since a candidate could write there.
  std::filesystem::path build_cache = {};
};

/// Probes the sandbox, starts the build process and asks for the device's facts. errc::worker_missing,
/// errc::device_missing (naming the devices there are), errc::sandbox_tier.
[[nodiscard]] Result<std::unique_ptr<ExecutionBackend>> open_process_backend(const BackendOptions& options);

/// Runs on the device of `backend`, which was opened with the same options, what that one has built, with options.tool
/// around it. errc::worker_missing.
[[nodiscard]] Result<std::unique_ptr<ExecutionBackend>> open_watched_backend(const BackendOptions& options,
                                                                             const ExecutionBackend& backend);

/// Builds for a device that need not be here, from its facts (hardware/device_file.hpp), and cannot start anything. The
/// sandbox is not probed.
[[nodiscard]] Result<std::unique_ptr<ExecutionBackend>> open_build_backend(const BackendOptions& options,
                                                                           DeviceFacts device);

/// The language's compiler for GPUs, which it must have, as the worker finds it: one entry (name its version, driver
/// its file), or the problem.
[[nodiscard]] Result<DescribeReply> describe_compiler(const Language& language,
                                                      const std::filesystem::path& worker = {});

/// All devices of all runtimes, or why there are none. `worker` as in BackendOptions.
[[nodiscard]] Result<DescribeReply> describe_devices(const std::filesystem::path& worker = {});

/// The worker executable; errc::worker_missing says where it was looked for.
[[nodiscard]] Result<std::filesystem::path> find_worker(const std::filesystem::path& given = {});

}  // namespace kw
