#include "device/cuda/nvrtc_api.hpp"

#include "device/cuda/toolkit.hpp"
#include "device/shared_library.hpp"

namespace kw::cuda {
namespace {

constexpr const char* k_how_to_get_it =
    "install the CUDA toolkit 12 or 13: NVIDIA's own packages, or nvidia-cuda-toolkit from Debian's non-free; if it is "
    "in an unusual place, set CUDA_HOME, or KERNELWRIGHT_NVRTC to libnvrtc.so itself";

std::filesystem::path file_of(void* symbol, const std::string& name) {
  Dl_info info{};
  return ::dladdr(symbol, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : name;
}

Result<NvrtcApi> bind(const SharedLibrary& opened) {
  NvrtcApi api;
  SymbolFinder find{opened.handle};
  find("nvrtcGetErrorString", api.error_string);
  find("nvrtcVersion", api.version);
  find("nvrtcGetNumSupportedArchs", api.num_supported_archs);
  find("nvrtcGetSupportedArchs", api.supported_archs);
  find("nvrtcCreateProgram", api.create_program);
  find("nvrtcDestroyProgram", api.destroy_program);
  find("nvrtcCompileProgram", api.compile_program);
  find("nvrtcGetProgramLogSize", api.log_size);
  find("nvrtcGetProgramLog", api.log);
  find("nvrtcGetCUBINSize", api.cubin_size);
  find("nvrtcGetCUBIN", api.cubin);
  find("nvrtcGetPTXSize", api.ptx_size);
  find("nvrtcGetPTX", api.ptx);
  if (!find.missing.empty()) {
    return fail(
        Error{errc::device_unavailable, fmt::format("{} lacks {}", opened.name, find.missing), k_how_to_get_it});
  }
  api.library = file_of(reinterpret_cast<void*>(api.version), opened.name);
  if (const NvrtcStatus status = api.version(&api.major, &api.minor); status != 0) {
    return fail(errc::device_unavailable, "{} does not tell its version: {}", opened.name, api.error_string(status));
  }
  return api;
}

}  // namespace

Result<NvrtcApi> load_nvrtc(const std::vector<std::string>& libraries) {
  KW_TRY(const SharedLibrary opened, open_library(libraries, "NVRTC, the CUDA compiler,", k_how_to_get_it));
  return bind(opened);
}

std::vector<int> supported_archs(const NvrtcApi& api) {
  int count = 0;
  if (api.num_supported_archs(&count) != 0 || count < 1 || count > 1000) return {};
  std::vector<int> archs(static_cast<std::size_t>(count));
  return api.supported_archs(archs.data()) == 0 ? archs : std::vector<int>{};
}

}  // namespace kw::cuda
