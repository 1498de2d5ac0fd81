#include <map>
#include <memory>

#include "device/device.hpp"
#include "worker/services.hpp"

namespace kw {
namespace {

using OpenDevices = std::map<std::string, std::unique_ptr<Device>, std::less<>>;

WorkerMessage answer_build(OpenDevices& open, const BuildRequest& request) {
  auto& device = open[request.device_id];
  if (!device) {
    auto opened = open_device(request.device_id);
    if (!opened) return LaunchFailure{opened.error().to_string()};
    device = *std::move(opened);
  }
  return device->build(request);
}

}  // namespace

int serve_builds(Channel& channel) {
  OpenDevices open;
  while (const auto message = channel.receive()) {
    WorkerMessage reply = LaunchFailure{"a build process only describes and builds"};
    if (const auto* request = std::get_if<DescribeRequest>(&*message)) reply = describe(*request);
    if (const auto* request = std::get_if<BuildRequest>(&*message)) reply = answer_build(open, *request);
    if (!channel.send(reply)) break;
  }
  return 0;
}

}  // namespace kw
