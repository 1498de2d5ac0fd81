#pragma once
// Opens the backend of the device the user named, or of the first one of the target.

#include <memory>
#include <string>

#include "base/result.hpp"
#include "verify/processes/process_backend.hpp"
#include "verify/state/options.hpp"
#include "verify/tools/tool_set.hpp"

namespace kw {

struct OpenedDevice {
  std::unique_ptr<ExecutionBackend> backend;
  OpenedTools watching;  ///< what watches kernels there
  [[nodiscard]] VerifierTools tools() const;
};

/// errc::device_missing lists what there is and how to install what is missing; errc::sandbox_tier when the sandbox
/// enforces less than `require_sandbox`.
[[nodiscard]] Result<OpenedDevice> open_device(const std::string& device, const std::string& target,
                                               const std::string& require_sandbox);

/// Facts to generate or compile for, with no device opened: a shipped name ("h200"), a file of facts (FILE.json), or,
/// when `device` is empty, Language::default_device of the target; the CPU of this machine for an unknown target.
/// errc::command_line when that device does not take the target.
[[nodiscard]] Result<DeviceFacts> facts_for(const std::string& device, const std::string& target);

/// Facts of a shipped device, of a file, or of a device of this machine as `kernelwright doctor` lists it, which is
/// opened for that; the first of the target when `device` is empty.
[[nodiscard]] Result<DeviceFacts> facts_of_any(const std::string& device, const std::string& target);

}  // namespace kw
