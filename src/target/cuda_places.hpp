#pragma once
// Where a CUDA toolkit may lie: the host looks there for programs, its sandboxed compiler for libraries and headers.

#include <filesystem>
#include <vector>

#include "base/environment.hpp"

namespace kw {

/// Variables that name a toolkit's folder, the first before the second.
inline constexpr const char* k_cuda_variables[] = {"CUDA_HOME", "CUDA_PATH"};
/// Where packages put it.
inline constexpr const char* k_cuda_folders[] = {"/usr/local/cuda", "/opt/cuda", "/usr/lib/cuda"};

/// What k_cuda_variables say, whether it exists or not.
[[nodiscard]] inline std::vector<std::filesystem::path> named_cuda_folders() {
  std::vector<std::filesystem::path> folders;
  for (const char* name : k_cuda_variables) {
    if (const std::string value = environment_variable(name); !value.empty()) folders.emplace_back(value);
  }
  return folders;
}

}  // namespace kw
