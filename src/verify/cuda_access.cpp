#include "verify/cuda_access.hpp"

#include <algorithm>
#include <system_error>

#include "base/environment.hpp"
#include "target/cuda_places.hpp"

namespace kw {
namespace {

namespace fs = std::filesystem;

/// The folder as given and as the file system resolves it: a rule holds for the place, not for the name.
void add_folder(const fs::path& folder, CudaAccess& access) {
  std::error_code error;
  const fs::path real = fs::canonical(folder, error);
  if (!error) access.readable.push_back(real);
}

/// A library given by its path, and the headers that may lie beside it.
void add_library(const char* name, CudaAccess& access) {
  const std::string value = environment_variable(name);
  if (value.empty()) return;
  access.environment.emplace_back(name, value);
  std::error_code error;
  const fs::path real = fs::canonical(value, error);
  if (error) return;
  const fs::path root = real.parent_path().parent_path();
  add_folder(real.parent_path(), access);
  add_folder(root / "include", access);
  add_folder(root.parent_path() / "cuda_runtime" / "include", access);
}

bool is_nvidia_node(const std::string& name) {
  constexpr std::string_view k_prefix = "nvidia";
  if (name == "nvidiactl" || name == "nvidia-uvm" || name == "nvidia-uvm-tools" || name == "nvidia-modeset")
    return true;
  if (!name.starts_with(k_prefix) || name.size() == k_prefix.size()) return false;
  return name.find_first_not_of("0123456789", k_prefix.size()) == std::string::npos;
}

void add_nodes(const fs::path& folder, bool any_name, CudaAccess& access) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (any_name || is_nvidia_node(entry->path().filename())) access.devices.push_back(entry->path());
  }
}

}  // namespace

CudaAccess cuda_compiler_access() {
  CudaAccess access;
  for (const char* name : k_cuda_variables) {
    const std::string value = environment_variable(name);
    if (!value.empty()) access.environment.emplace_back(name, value);
  }
  for (const fs::path& folder : named_cuda_folders()) add_folder(folder, access);
  for (const char* folder : k_cuda_folders) add_folder(folder, access);
  add_library("KERNELWRIGHT_NVRTC", access);
  return access;
}

CudaAccess cuda_driver_access(const fs::path& dev) {
  CudaAccess access;
  add_library("KERNELWRIGHT_CUDA_DRIVER", access);
  add_nodes(dev, false, access);
  add_nodes(dev / "nvidia-caps", true, access);
  std::sort(access.devices.begin(), access.devices.end());
  if (access.devices.empty()) return access;
  for (const char* path : {"/proc/driver/nvidia", "/proc/devices", "/proc/modules", "/proc/version", "/proc/sys/vm",
                           "/sys/module", "/sys/bus/pci", "/sys/devices", "/sys/class", "/etc/nvidia"}) {
    access.readable.emplace_back(path);
  }
  if (const std::string visible = environment_variable("CUDA_VISIBLE_DEVICES"); !visible.empty()) {
    access.environment.emplace_back("CUDA_VISIBLE_DEVICES", visible);
  }
  // Code is loaded when it is loaded, not at its first launch, and nothing is compiled or kept behind our back.
  access.environment.emplace_back("CUDA_MODULE_LOADING", "EAGER");
  access.environment.emplace_back("CUDA_CACHE_DISABLE", "1");
  access.environment.emplace_back("CUDA_DEVICE_ORDER", "PCI_BUS_ID");
  return access;
}

void grant(const CudaAccess& access, SandboxSpec& spec) {
  spec.environment.insert(spec.environment.end(), access.environment.begin(), access.environment.end());
  spec.readable.insert(spec.readable.end(), access.readable.begin(), access.readable.end());
  spec.devices.insert(spec.devices.end(), access.devices.begin(), access.devices.end());
}

}  // namespace kw
