#pragma once
// NVIDIA's programs that watch a process on the GPU: compute-sanitizer and Nsight Compute. Each starts the worker,
// loads a library of its own into it, and talks to that over a local socket; docs/threat-model.md says what the sandbox
// lets through for them, and why. Here: where they are, and how they are started.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kw {

struct GpuTool {
  std::filesystem::path program;
  std::vector<std::string> arguments;           ///< before the worker's command line
  std::vector<std::filesystem::path> readable;  ///< what it loads into the worker, beyond what every worker reads
  std::string report_file;                      ///< what `arguments` have it write, in the private directory
  bool opens_files = false;                     ///< at every launch, so that the worker can't lock itself down
};

/// The program, found by its name: in the bin/ of the toolkits that variables name, the folders of $PATH, the bin/ of
/// k_cuda_folders (hardware/cuda_places.hpp), in this order. The absolute path, with links resolved.
[[nodiscard]] std::optional<std::filesystem::path> find_gpu_tool(std::string_view name);

/// compute-sanitizer with one of its tools: "memcheck", "racecheck", "synccheck". Ends with k_sanitizer_found when it
/// has found something.
[[nodiscard]] GpuTool compute_sanitizer(std::filesystem::path program, std::string_view tool);
inline constexpr int k_sanitizer_found = 86;

/// Nsight Compute, which counts the metrics of every launch and writes them as CSV, one line per launch.
[[nodiscard]] GpuTool nsight_compute(std::filesystem::path program, const std::vector<std::string>& metrics);

}  // namespace kw
