#include "cli/device_choice.hpp"

#include <algorithm>

#include "cli/inputs.hpp"

namespace kw {
namespace {

Result<std::string> choose(const DescribeReply& reply, const std::string& device, const std::string& target) {
  std::string known;
  for (const auto& one : reply.devices) {
    if (one.target == target && (device.empty() ? one.kind != DeviceKind::null_device : one.id == device))
      return one.id;
    known += (known.empty() ? "" : ", ") + one.id + " (target " + one.target + ")";
  }
  const std::string wanted =
      device.empty() ? "no device for target " + target : "no device " + device + " for target " + target;
  return fail(Error{errc::device_missing, fmt::format("{}; there are: {}", wanted, known.empty() ? "none" : known),
                    reply.problem.empty() ? "choose one of them with --device" : reply.problem});
}

}  // namespace

Result<std::unique_ptr<Workbench>> open_device(const std::string& device, const std::string& target,
                                               const std::string& require_sandbox) {
  WorkbenchOptions options;
  KW_TRY(options.required, read_tier(require_sandbox));
  KW_TRY(options.worker, worker_executable());
  KW_TRY(const auto devices, describe_devices(options.worker));
  KW_TRY(options.device_id, choose(devices, device, target));
  return open_process_workbench(options);
}

}  // namespace kw
