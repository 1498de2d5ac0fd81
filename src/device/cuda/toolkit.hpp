#pragma once
// Where the CUDA toolkit's libraries and headers are looked for. Reads the environment of the worker, which the host
// has scrubbed: only what it decided to hand on is there (language/cuda.cpp).

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace kw::cuda {

/// Names a library to load in place of the ones found; for machines with several, and for tests.
inline constexpr const char* k_nvrtc_variable = "KERNELWRIGHT_NVRTC";
inline constexpr const char* k_driver_variable = "KERNELWRIGHT_CUDA_DRIVER";

/// What to hand to dlopen, best first: k_nvrtc_variable alone when it is set; else the newest version in $CUDA_HOME,
/// $CUDA_PATH and the usual places, then the loader's own search.
[[nodiscard]] std::vector<std::string> nvrtc_libraries();

/// k_driver_variable alone when it is set, else "libcuda.so.1".
[[nodiscard]] std::string driver_library();

/// The folder of cuda_fp16.h that belongs to a loaded library; nothing when it is not installed.
[[nodiscard]] std::optional<std::filesystem::path> header_folder(const std::filesystem::path& library);

}  // namespace kw::cuda
