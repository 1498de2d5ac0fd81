#include "device/sim/sim_device.hpp"

#include <algorithm>

#include "device/build_steps.hpp"
#include "device/sim/compile.hpp"
#include "device/sim/sim_language.hpp"
#include "device/sim/simulator.hpp"
#include "hardware/device_file.hpp"

namespace kw {
namespace {

/// What buffers may take: they lie in this machine's memory.
constexpr std::int64_t k_memory_bytes = std::int64_t{8} << 30;

Result<DeviceFacts> facts_of(const Language& language, const SimulatedDevice& device) {
  KW_TRY(DeviceFacts facts, find_device_facts(device.gpu));
  facts.name = fmt::format("{} simulator with the limits of {}", language.simulator->title, facts.name);
  facts.id = device.id;
  facts.driver = "kernelwright simulator 1";
  facts.kind = DeviceKind::simulator;
  facts.memory_bytes = k_memory_bytes;
  return facts;
}

class SimDevice final : public Device {
 public:
  explicit SimDevice(DeviceFacts facts) : facts_(std::move(facts)), compiler_(private_directory()) {}

  [[nodiscard]] const DeviceFacts& facts() const override { return facts_; }

  BuildReply build(const BuildRequest& request) override { return compiler_.build(request, facts_); }

  Result<void> load(const LoadRequest& request, std::span<std::byte> arena) override {
    LoadRequest asked = request;
    if (!sim::dialect_of(facts_).counts_accesses) asked.counting = Counting::none;
    KW_TRY(simulator_, sim::Simulator::open(asked, arena, private_directory(), sim::lanes_of(facts_)));
    return {};
  }

  Result<LaunchReply> launch(const LaunchRequest& request) override {
    if (!simulator_) return fail(errc::device_refused, "nothing is loaded");
    KW_TRY_VOID(simulator_->launch(request.plan));
    return LaunchReply{0, {}, {}, simulator_->take_accesses(), simulator_->uncounted_accesses()};
  }

 private:
  DeviceFacts facts_;
  sim::Compiler compiler_;
  std::unique_ptr<sim::Simulator> simulator_;
};

}  // namespace

Result<std::vector<DeviceFacts>> describe_sim_devices() {
  std::vector<DeviceFacts> all;
  for (const Language* language : languages()) {
    if (!language->simulator) continue;
    for (const SimulatedDevice& device : language->simulator->devices) {
      KW_TRY(DeviceFacts facts, facts_of(*language, device));
      all.push_back(std::move(facts));
    }
  }
  return all;
}

Result<std::unique_ptr<Device>> open_sim_device(const std::string& device_id) {
  KW_TRY(std::vector<DeviceFacts> all, describe_sim_devices());
  const auto found = std::ranges::find(all, device_id, &DeviceFacts::id);
  if (found != all.end()) return std::make_unique<SimDevice>(std::move(*found));
  std::vector<std::string> ids;
  for (const DeviceFacts& facts : all) ids.push_back(facts.id);
  return fail(errc::device_unavailable, "the simulator knows no device '{}'; there are {}", device_id,
              fmt::join(ids, ", "));
}

}  // namespace kw
