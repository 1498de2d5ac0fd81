#pragma once
// What the sandbox has to let through for CUDA: the toolkit for processes that compile, the driver and its device nodes
// for those that describe a GPU or run on one. Empty on a machine that has neither. A process with these device nodes
// can reach the whole ioctl interface of the kernel driver; docs/threat-model.md says what remains.

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "sandbox/sandbox.hpp"

namespace kw {

struct CudaAccess {
  std::vector<std::pair<std::string, std::string>> environment;
  std::vector<std::filesystem::path> readable;
  std::vector<std::filesystem::path> devices;
  /// Nothing to let through: there is no driver.
  [[nodiscard]] bool empty() const { return environment.empty() && devices.empty(); }
};

/// Of this process's environment CUDA_HOME, CUDA_PATH and KERNELWRIGHT_NVRTC, and the folders they name.
[[nodiscard]] CudaAccess cuda_compiler_access();

/// The nodes below `dev` that an NVIDIA driver makes, what it reads of /proc and /sys, CUDA_VISIBLE_DEVICES,
/// and KERNELWRIGHT_CUDA_DRIVER with its folder.
[[nodiscard]] CudaAccess cuda_driver_access(const std::filesystem::path& dev = "/dev");

/// Adds to what a process is given already.
void grant(const CudaAccess& access, SandboxSpec& spec);

}  // namespace kw
