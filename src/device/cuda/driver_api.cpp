#include "device/cuda/driver_api.hpp"

#include <utility>

#include "device/shared_library.hpp"

namespace kw::cuda {
namespace {

void bind_devices(SymbolFinder& find, DriverApi& api) {
  find("cuInit", api.init);
  find("cuDriverGetVersion", api.driver_version);
  find("cuGetErrorName", api.error_name);
  find("cuGetErrorString", api.error_string);
  find("cuDeviceGetCount", api.device_count);
  find("cuDeviceGet", api.device_get);
  find("cuDeviceGetName", api.device_name);
  find("cuDeviceGetAttribute", api.device_attribute);
  find("cuDeviceTotalMem_v2", api.device_memory);
  find("cuDevicePrimaryCtxRetain", api.retain_context);
  find("cuCtxSetCurrent", api.set_context);
  find("cuCtxSynchronize", api.synchronise_context);
}

void bind_work(SymbolFinder& find, DriverApi& api) {
  find("cuStreamCreate", api.create_stream);
  find("cuStreamSynchronize", api.synchronise_stream);
  find("cuEventCreate", api.create_event);
  find("cuEventRecord", api.record_event);
  find("cuEventElapsedTime", api.elapsed_ms);
  find("cuModuleLoadData", api.load_module);
  find("cuModuleGetFunction", api.get_function);
  find("cuFuncGetAttribute", api.function_attribute);
  find("cuFuncSetAttribute", api.set_function_attribute);
  find("cuLaunchKernel", api.launch);
  find("cuMemAlloc_v2", api.allocate);
  find("cuMemcpyHtoD_v2", api.upload);
  find("cuMemcpyDtoH_v2", api.download);
  find("cuMemsetD32Async", api.fill_words);
  find("cuMemHostAlloc", api.allocate_host);
  find("cuMemHostGetDevicePointer_v2", api.host_address);
  find.optional("cuStreamWaitValue32_v2", api.wait_value);
  find.optional("cuCtxResetPersistingL2Cache", api.reset_persisting_l2);
  find.optional("cuMemHostRegister_v2", api.register_host);
}

std::string text_or(Status (*ask)(Status, const char**), Status status, std::string otherwise) {
  const char* text = nullptr;
  return ask != nullptr && ask(status, &text) == 0 && text != nullptr ? std::string(text) : std::move(otherwise);
}

}  // namespace

Result<DriverApi> load_driver(const std::string& library) {
  constexpr const char* k_how_to_get_it =
      "install NVIDIA's driver for the GPU, version 525 or later, and give a container access to it";
  KW_TRY(const SharedLibrary opened, open_library({library}, "the NVIDIA driver", k_how_to_get_it));
  DriverApi api;
  SymbolFinder find{opened.handle};
  bind_devices(find, api);
  bind_work(find, api);
  if (!find.missing.empty()) {
    return fail(Error{errc::device_unavailable, fmt::format("the NVIDIA driver ({}) lacks {}", library, find.missing),
                      k_how_to_get_it});
  }
  return api;
}

std::string status_text(const DriverApi& api, Status status) {
  return fmt::format("{} ({})", text_or(api.error_name, status, fmt::format("CUDA error {}", status)),
                     text_or(api.error_string, status, "no description"));
}

Result<void> check(const DriverApi& api, Status status, std::string_view call) {
  if (status == 0) return {};
  return fail(errc::device_refused, "{} failed with {}", call, status_text(api, status));
}

}  // namespace kw::cuda
