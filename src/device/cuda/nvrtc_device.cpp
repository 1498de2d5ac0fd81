#include "device/cuda/nvrtc_device.hpp"

#include "device/cuda/nvrtc_build.hpp"
#include "device/cuda/toolkit.hpp"
#include "hardware/gpu_arch.hpp"

namespace kw {
namespace {

constexpr std::string_view k_nvrtc_prefix = "nvrtc:";

class NvrtcDevice final : public Device {
 public:
  NvrtcDevice(cuda::NvrtcApi api, DeviceFacts facts) : api_(std::move(api)), facts_(std::move(facts)) {}

  [[nodiscard]] const DeviceFacts& facts() const override { return facts_; }
  BuildReply build(const BuildRequest& request) override { return cuda::build(api_, facts_, request); }
  Result<void> load(const LoadRequest&, std::span<std::byte>) override { return refuse(); }
  Result<LaunchReply> launch(const LaunchRequest&) override { return tl::unexpected(refuse().error()); }

 private:
  [[nodiscard]] Result<void> refuse() const {
    return fail(errc::device_refused, "{} compiles, it runs nothing", facts_.id);
  }

  cuda::NvrtcApi api_;
  DeviceFacts facts_;
};

}  // namespace

Result<std::vector<DeviceFacts>> describe_nvrtc() {
  KW_TRY(const cuda::NvrtcApi api, cuda::load_nvrtc(cuda::nvrtc_libraries()));
  DeviceFacts facts;
  facts.id = "nvrtc";
  facts.target = "cuda";
  facts.name = fmt::format("NVRTC {}.{}", api.major, api.minor);
  facts.driver = api.library.string();
  facts.kind = DeviceKind::null_device;  // nothing runs on it
  if (!cuda::header_folder(api.library)) facts.name += " without CUDA's headers";
  return std::vector{std::move(facts)};
}

Result<std::unique_ptr<Device>> open_nvrtc(const std::string& device_id) {
  const bool named = device_id.starts_with(k_nvrtc_prefix);
  const auto arch = named ? find_gpu_arch(std::string_view(device_id).substr(k_nvrtc_prefix.size())) : std::nullopt;
  if (!arch || arch->target != "cuda") {
    return fail(errc::device_unavailable, "'{}' is not an architecture that can be compiled for", device_id);
  }
  KW_TRY(cuda::NvrtcApi api, cuda::load_nvrtc(cuda::nvrtc_libraries()));
  DeviceFacts facts = gpu_arch_facts(*arch);
  facts.id = device_id;
  return std::make_unique<NvrtcDevice>(std::move(api), std::move(facts));
}

}  // namespace kw
