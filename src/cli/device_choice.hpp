#pragma once
// Opens the workbench of the device the user named, or of the first one of the target.

#include <memory>
#include <string>

#include "base/result.hpp"
#include "verify/process_workbench.hpp"

namespace kw {

struct OpenedDevice {
  std::unique_ptr<Workbench> workbench;
  std::unique_ptr<Workbench> sanitizer;  ///< null when none is installed for this target
};

/// errc::device_missing lists what there is and how to install what is missing; errc::sandbox_tier when the sandbox
/// enforces less than `require_sandbox`.
[[nodiscard]] Result<OpenedDevice> open_device(const std::string& device, const std::string& target,
                                               const std::string& require_sandbox);

}  // namespace kw
