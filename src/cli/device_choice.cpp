#include "cli/device_choice.hpp"

#include "cli/inputs.hpp"

namespace kw {

Result<std::unique_ptr<Workbench>> open_device(const std::string& device, const std::string& target,
                                               const std::string& require_sandbox) {
  WorkbenchOptions options;
  KW_TRY(options.required, read_tier(require_sandbox));
  options.device_id = device;
  KW_TRY(auto workbench, open_process_workbench(options));
  const DeviceFacts& facts = workbench->device();
  if (facts.target != target) {
    return fail(Error{errc::device_missing, fmt::format("device {} takes target {}, not {}", facts.id, facts.target, target),
                      "see `kernelwright doctor` for devices and their targets"});
  }
  return workbench;
}

}  // namespace kw
