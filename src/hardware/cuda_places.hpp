#pragma once
// Where a CUDA toolkit may lie: the host looks there for programs, its sandboxed compiler for libraries and headers.

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/environment.hpp"

namespace kw {

/// Variables that name a toolkit's folder, the first before the second.
inline constexpr std::array<std::string_view, 2> k_cuda_variables = {"CUDA_HOME", "CUDA_PATH"};
/// Where packages put it.
inline constexpr std::array<std::string_view, 3> k_cuda_folders = {"/usr/local/cuda", "/opt/cuda", "/usr/lib/cuda"};

/// What k_cuda_variables say, whether it exists or not.
[[nodiscard]] inline std::vector<std::filesystem::path> named_cuda_folders() {
  std::vector<std::filesystem::path> folders;
  for (const std::string_view name : k_cuda_variables) {
    if (const std::string value = environment_variable(std::string(name).c_str()); !value.empty())
      folders.emplace_back(value);
  }
  return folders;
}

}  // namespace kw
