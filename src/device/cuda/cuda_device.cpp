#include "device/cuda/cuda_device.hpp"

#include <algorithm>

#include "device/cuda/gpus.hpp"
#include "device/cuda/loaded.hpp"
#include "device/cuda/nvrtc_build.hpp"
#include "device/cuda/toolkit.hpp"

namespace kw {
namespace {

class CudaDevice final : public Device {
 public:
  explicit CudaDevice(cuda::Session session) : session_(std::move(session)) {}

  [[nodiscard]] const DeviceFacts& facts() const override { return session_.facts; }

  BuildReply build(const BuildRequest& request) override {
    const auto compiler = cuda::load_nvrtc(cuda::nvrtc_libraries());
    if (compiler) return cuda::build(*compiler, session_.facts, request);
    BuildReply reply;
    reply.status = BuildStatus::resource;
    reply.log = compiler.error().to_string();
    return reply;
  }

  Result<void> load(const LoadRequest& request, std::span<std::byte> arena) override {
    KW_TRY(plans_, cuda::load(session_, request, arena));
    // Everything but the candidate's kernels once, so that what the driver sets up at first use is there before the
    // process gives up its rights.
    KW_TRY_VOID(cuda::launch(session_, {short_mirrors(), {}, {}}, {0, true}));
    return {};
  }

  [[nodiscard]] bool fills_buffers() const override { return true; }

  void be_watched() override { session_.watched = true; }

  /// NVIDIA's driver opens a node anew for each piece of memory that it maps.
  [[nodiscard]] bool keeps_opening_nodes() const override { return true; }

  Result<LaunchReply> launch(const LaunchRequest& request) override {
    if (request.plan < 0 || static_cast<std::size_t>(request.plan) >= plans_.size()) {
      return fail(errc::device_refused, "there is no plan {}", request.plan);
    }
    return cuda::launch(session_, plans_[static_cast<std::size_t>(request.plan)], request);
  }

 private:
  /// Enough of the first plan's for the driver to set up copies.
  [[nodiscard]] std::vector<cuda::Mirror> short_mirrors() const {
    constexpr std::size_t k_enough_bytes = std::size_t{1} << 20;
    std::vector<cuda::Mirror> mirrors;
    if (plans_.empty()) return mirrors;
    for (const cuda::Mirror& mirror : plans_.front().mirrors) {
      mirrors.push_back({mirror.host.first(std::min(mirror.host.size(), k_enough_bytes)), mirror.device});
    }
    return mirrors;
  }

  cuda::Session session_;
  std::vector<cuda::ReadyPlan> plans_;
};

}  // namespace

Result<std::vector<DeviceFacts>> describe_cuda_devices() {
  KW_TRY(const cuda::DriverApi api, cuda::load_driver(cuda::driver_library()));
  KW_TRY(const auto gpus, cuda::list_gpus(api));
  std::vector<DeviceFacts> facts;
  for (const auto& gpu : gpus) facts.push_back(gpu.facts);
  return facts;
}

Result<std::unique_ptr<Device>> open_cuda_device(const std::string& device_id) {
  KW_TRY(const cuda::DriverApi api, cuda::load_driver(cuda::driver_library()));
  KW_TRY(auto gpus, cuda::list_gpus(api));
  const auto wanted =
      std::find_if(gpus.begin(), gpus.end(), [&](const auto& gpu) { return gpu.facts.id == device_id; });
  if (wanted == gpus.end()) {
    return fail(errc::device_unavailable, "there is no device '{}'; the driver has {}", device_id, gpus.size());
  }
  KW_TRY(cuda::Session session, cuda::open_session(api, wanted->ordinal, std::move(wanted->facts)));
  return std::make_unique<CudaDevice>(std::move(session));
}

}  // namespace kw
