#include "cli/device_choice.hpp"

#include "cli/inputs.hpp"
#include "verify/oclgrind.hpp"

namespace kw {

Result<OpenedDevice> open_device(const std::string& device, const std::string& target,
                                 const std::string& require_sandbox) {
  WorkbenchOptions options;
  KW_TRY(options.required, read_tier(require_sandbox));
  options.device_id = device;
  OpenedDevice opened;
  KW_TRY(opened.workbench, open_process_workbench(options));
  const DeviceFacts& facts = opened.workbench->device();
  if (facts.target != target) {
    return fail(Error{errc::device_missing,
                      fmt::format("device {} takes target {}, not {}", facts.id, facts.target, target),
                      "see `kernelwright doctor` for devices and their targets"});
  }
  if (facts.kind != DeviceKind::null_device && have_oclgrind()) {
    KW_TRY(opened.sanitizer, open_oclgrind(options));
  }
  return opened;
}

}  // namespace kw
