#pragma once
// The entry points of NVIDIA's run-time compiler in use, found with dlopen. Declared here because its header need not
// be installed where kernelwright is built; the prototypes are those of CUDA 12 and 13.

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "device/device.hpp"

namespace kw::cuda {

using NvrtcProgram = struct NvrtcProgramObject*;
/// 0 is success. Two others have a meaning of their own here.
using NvrtcStatus = int;
inline constexpr NvrtcStatus k_nvrtc_out_of_memory = 1;
inline constexpr NvrtcStatus k_nvrtc_compilation = 6;

struct NvrtcApi {
  std::filesystem::path library;
  int major = 0;
  int minor = 0;
  const char* (*error_string)(NvrtcStatus) = nullptr;
  NvrtcStatus (*version)(int*, int*) = nullptr;
  NvrtcStatus (*num_supported_archs)(int*) = nullptr;
  NvrtcStatus (*supported_archs)(int*) = nullptr;
  NvrtcStatus (*create_program)(NvrtcProgram*, const char* source, const char* name, int headers,
                                const char* const* header_texts, const char* const* header_names) = nullptr;
  NvrtcStatus (*destroy_program)(NvrtcProgram*) = nullptr;
  NvrtcStatus (*compile_program)(NvrtcProgram, int options, const char* const*) = nullptr;
  NvrtcStatus (*log_size)(NvrtcProgram, std::size_t*) = nullptr;
  NvrtcStatus (*log)(NvrtcProgram, char*) = nullptr;
  NvrtcStatus (*cubin_size)(NvrtcProgram, std::size_t*) = nullptr;
  NvrtcStatus (*cubin)(NvrtcProgram, char*) = nullptr;
  NvrtcStatus (*ptx_size)(NvrtcProgram, std::size_t*) = nullptr;
  NvrtcStatus (*ptx)(NvrtcProgram, char*) = nullptr;
};

/// Tries `libraries` in order; never unloads. errc::device_unavailable says what was tried and how to get it.
[[nodiscard]] Result<NvrtcApi> load_nvrtc(const std::vector<std::string>& libraries);

/// Numbers of the architectures it compiles for, such as 75, 80, 90; empty when it does not say.
[[nodiscard]] std::vector<int> supported_archs(const NvrtcApi& api);

}  // namespace kw::cuda
