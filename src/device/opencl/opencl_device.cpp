#include "device/opencl/opencl_device.hpp"

#include <algorithm>

#include "device/opencl/kernel_loading.hpp"
#include "device/opencl/loaded.hpp"
#include "device/opencl/pocl_cache.hpp"
#include "device/opencl/pocl_threads.hpp"
#include "device/opencl/session.hpp"

namespace kw {
namespace {

class OpenclDevice final : public Device {
 public:
  explicit OpenclDevice(opencl::Session session) : session_(std::move(session)) {}

  [[nodiscard]] const DeviceFacts& facts() const override { return session_.device.facts; }

  BuildReply build(const BuildRequest& request) override { return opencl::build(session_, request); }

  Result<void> load(const LoadRequest& request, std::span<std::byte> arena) override {
    KW_TRY(loaded_, opencl::load(session_, request, arena));
    return {};
  }

  [[nodiscard]] bool has_all_code() const override { return loaded_.in_process; }

  Result<LaunchReply> launch(const LaunchRequest& request) override {
    if (request.plan < 0 || static_cast<std::size_t>(request.plan) >= loaded_.plans.size()) {
      return fail(errc::device_refused, "there is no plan {}", request.plan);
    }
    return opencl::launch(session_, loaded_.plans[static_cast<std::size_t>(request.plan)], request.cold);
  }

 private:
  opencl::Session session_;
  opencl::Loaded loaded_;
};

Result<opencl::Session> open_session(const opencl::Api& api, opencl::ListedDevice device,
                                     std::filesystem::path pocl_cache, std::optional<opencl::LlvmApi> llvm) {
  cl_int status = CL_SUCCESS;
  opencl::OwnedContext context(api.create_context(nullptr, 1, &device.id, nullptr, nullptr, &status),
                               api.release_context);
  KW_TRY_VOID(opencl::check(status, "clCreateContext"));
  opencl::OwnedQueue queue(api.create_command_queue(context.get(), device.id, 0, &status), api.release_command_queue);
  KW_TRY_VOID(opencl::check(status, "clCreateCommandQueue"));
  return opencl::Session{api, std::move(device), std::move(pocl_cache), std::move(context), std::move(queue), llvm};
}

}  // namespace

Result<std::vector<DeviceFacts>> describe_opencl_devices() {
  opencl::use_private_pocl_cache();
  opencl::bind_pocl_threads();
  KW_TRY(const opencl::Api api, opencl::load_api());
  KW_TRY(const auto devices, opencl::list_devices(api));
  std::vector<DeviceFacts> facts;
  for (const auto& device : devices) facts.push_back(device.facts);
  return facts;
}

Result<std::unique_ptr<Device>> open_opencl_device(const std::string& device_id) {
  std::filesystem::path pocl_cache = opencl::use_private_pocl_cache();
  opencl::bind_pocl_threads();
  KW_TRY(const opencl::Api api, opencl::load_api());
  KW_TRY(auto devices, opencl::list_devices(api));
  const auto wanted =
      std::find_if(devices.begin(), devices.end(), [&](const auto& d) { return d.facts.id == device_id; });
  if (wanted == devices.end()) {
    return fail(errc::device_unavailable, "there is no device '{}'; OpenCL has {}", device_id, devices.size());
  }
  std::optional<opencl::LlvmApi> llvm;
  if (wanted->pocl) KW_TRY_VOID(opencl::redirect_loading_of_pocl());
  if (wanted->tracks_writes) {
    KW_TRY(llvm, opencl::llvm_of_driver("liboclgrind"));
  }
  KW_TRY(opencl::Session session, open_session(api, std::move(*wanted), std::move(pocl_cache), llvm));
  return std::make_unique<OpenclDevice>(std::move(session));
}

}  // namespace kw
