#include "device/cuda/toolkit.hpp"

#include <iterator>
#include <system_error>

#include "hardware/cuda_places.hpp"

namespace kw::cuda {
namespace {

namespace fs = std::filesystem;

constexpr const char* k_names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
constexpr const char* k_folders[] = {"lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"};

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

}  // namespace

std::vector<std::string> nvrtc_libraries() {
  if (const std::string given = environment_variable(k_nvrtc_variable); !given.empty()) return {given};
  std::vector<std::string> libraries;
  std::vector<fs::path> roots = named_cuda_folders();
  roots.insert(roots.end(), std::begin(k_cuda_folders), std::end(k_cuda_folders));
  for (const fs::path& root : roots) {
    for (const char* name : k_names) {
      for (const char* folder : k_folders) {
        const fs::path path = root / folder / name;
        if (is_there(path)) libraries.push_back(path.string());
      }
    }
  }
  for (const char* name : k_names) libraries.emplace_back(name);
  return libraries;
}

std::string driver_library() {
  const std::string given = environment_variable(k_driver_variable);
  return given.empty() ? "libcuda.so.1" : given;
}

std::optional<fs::path> header_folder(const fs::path& library) {
  std::error_code error;
  const fs::path real = fs::weakly_canonical(library, error);
  // lib64/libnvrtc.so.13 beside include/, targets/x86_64-linux/lib/ likewise, a Python package's nvidia/cuda_nvrtc/lib/
  // beside nvidia/cuda_runtime/include/, and the system's own folders.
  const fs::path root = real.parent_path().parent_path();
  for (const fs::path& folder :
       {root / "include", root.parent_path() / "cuda_runtime" / "include", root.parent_path() / "include",
        fs::path("/usr/local/cuda/include"), fs::path("/usr/include")}) {
    if (is_there(folder / "cuda_fp16.h")) return folder;
  }
  return std::nullopt;
}

}  // namespace kw::cuda
