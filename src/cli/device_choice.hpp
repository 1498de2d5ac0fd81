#pragma once
// Opens the workbench of the device the user named, or of the first one of the target.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "verify/process_workbench.hpp"
#include "verify/verifier.hpp"

namespace kw {

struct OpenedDevice {
  std::unique_ptr<Workbench> workbench;
  std::vector<std::unique_ptr<Sanitizer>> sanitizers;  ///< those that are installed for this target and work
  std::unique_ptr<Profiler> profiler;                  ///< null where hardware counts nothing
  [[nodiscard]] VerifierTools tools() const;
};

/// errc::device_missing lists what there is and how to install what is missing; errc::sandbox_tier when the sandbox
/// enforces less than `require_sandbox`.
[[nodiscard]] Result<OpenedDevice> open_device(const std::string& device, const std::string& target,
                                               const std::string& require_sandbox);

/// Facts to generate or compile for, with no device opened: a shipped name ("h200"), a file of facts (FILE.json), or,
/// when `device` is empty, the CPU of this machine for target "opencl" and default_gpu() for every other.
/// errc::command_line when that device does not take the target.
[[nodiscard]] Result<DeviceFacts> facts_for(const std::string& device, const std::string& target);

/// Facts of a shipped device, of a file, or of a device of this machine as `kernelwright doctor` lists it, which is
/// opened for that; the first of the target when `device` is empty.
[[nodiscard]] Result<DeviceFacts> facts_of_any(const std::string& device, const std::string& target);

/// What a kernel for a GPU is written for when none is named: "h100", and "mi300x" for target "hip".
[[nodiscard]] std::string_view default_gpu(std::string_view target);

}  // namespace kw
