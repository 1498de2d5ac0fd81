#include "device/sim/sim_device.hpp"

#include <algorithm>
#include <array>

#include "device/build_steps.hpp"
#include "device/sim/compile.hpp"
#include "device/sim/sim_language.hpp"
#include "device/sim/simulator.hpp"
#include "target/device_file.hpp"

namespace kw {
namespace {

/// Whose facts a simulated device has. The first of a language is the one that "sim" means there
/// (verify/process_workbench.cpp).
struct Model {
  const char* id;
  const char* gpu;  ///< as find_device_facts takes it
};
constexpr std::array k_models{
    Model{"sim", "h100"},           Model{"sim:sm_80", "a100"},    Model{"sim:sm_90", "h100"},
    Model{"sim:sm_120", "rtx5090"}, Model{"sim:gfx942", "mi300x"}, Model{"sim:gfx1100", "rx7900xtx"},
};
/// What buffers may take: they lie in this machine's memory.
constexpr std::int64_t k_memory_bytes = std::int64_t{8} << 30;

Result<DeviceFacts> facts_of(const Model& model) {
  KW_TRY(DeviceFacts facts, find_device_facts(model.gpu));
  facts.name = fmt::format("{} simulator with the limits of {}", facts.target == "hip" ? "HIP" : "CUDA", facts.name);
  facts.id = model.id;
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
    KW_TRY(simulator_, sim::Simulator::open(request, arena, private_directory(), sim::lanes_of(facts_)));
    return {};
  }

  Result<LaunchReply> launch(const LaunchRequest& request) override {
    if (!simulator_) return fail(errc::device_refused, "nothing is loaded");
    KW_TRY_VOID(simulator_->launch(request.plan));
    return LaunchReply{};
  }

 private:
  DeviceFacts facts_;
  sim::Compiler compiler_;
  std::unique_ptr<sim::Simulator> simulator_;
};

}  // namespace

Result<std::vector<DeviceFacts>> describe_sim_devices() {
  std::vector<DeviceFacts> all;
  for (const Model& model : k_models) {
    KW_TRY(DeviceFacts facts, facts_of(model));
    all.push_back(std::move(facts));
  }
  return all;
}

Result<std::unique_ptr<Device>> open_sim_device(const std::string& device_id) {
  const auto* found =
      std::find_if(k_models.begin(), k_models.end(), [&](const Model& model) { return model.id == device_id; });
  if (found == k_models.end()) {
    return fail(errc::device_unavailable,
                "the simulator knows no device '{}'; try sim, sim:sm_80, sim:sm_120, sim:gfx942 or sim:gfx1100",
                device_id);
  }
  KW_TRY(DeviceFacts facts, facts_of(*found));
  return std::make_unique<SimDevice>(std::move(facts));
}

}  // namespace kw
