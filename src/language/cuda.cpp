// CUDA C++: compiled by NVRTC, which needs no GPU, and run by NVIDIA's driver.
#include <array>

#include "hardware/cuda_places.hpp"
#include "language/rows.hpp"

namespace kw {
namespace {

constexpr auto k_cuda_words = std::to_array<std::string_view>(
    {"__global__", "__device__", "threadIdx", "blockIdx", "__syncthreads", "__shared__"});
constexpr auto k_cuda_headers = std::to_array<std::string_view>(
    {"cooperative_groups.h", "cuda_bf16.h", "cuda_fp16.h", "cuda_runtime.h", "math_constants.h", "mma.h"});

constexpr auto k_cuda_simulated = std::to_array<SimulatedDevice>({
    {"sim", "h100", ""},
    {"sim:sm_80", "a100", "sm_8"},
    {"sim:sm_90", "h100", "sm_9"},
    {"sim:sm_120", "rtx5090", "sm_1"},
});

constexpr auto k_cuda_same_conditions = std::to_array<std::string_view>({"__CUDA_ARCH__", "__CUDACC__"});

constexpr auto k_cuda_build_files = std::to_array<std::string_view>({"KERNELWRIGHT_NVRTC"});
constexpr auto k_cuda_run_files = std::to_array<std::string_view>({"KERNELWRIGHT_CUDA_DRIVER"});
/// The library's own folder, its headers, and those of the package beside it (as pip lays them out).
constexpr auto k_cuda_around_library =
    std::to_array<std::string_view>({".", "../include", "../../cuda_runtime/include"});

/// Distributions put them among their own.
constexpr auto k_cuda_system_headers =
    std::to_array<std::pair<std::string_view, std::string_view>>({{"/usr/include", "cuda_fp16.h"}});

/// What an NVIDIA driver makes below /dev, and what it reads.
constexpr auto k_cuda_nodes = std::to_array<std::string_view>(
    {"nvidiactl", "nvidia-uvm", "nvidia-uvm-tools", "nvidia-modeset", "nvidia#", "nvidia-caps/*"});
constexpr auto k_cuda_driver_paths = std::to_array<std::string_view>(
    {"/proc/driver/nvidia", "/proc/devices", "/proc/modules", "/proc/version", "/proc/sys/vm", "/sys/module",
     "/sys/bus/pci", "/sys/devices", "/sys/class", "/etc/nvidia"});
constexpr auto k_cuda_driver_variables = std::to_array<std::string_view>({"CUDA_VISIBLE_DEVICES"});
/// Code is loaded when it is loaded, not at its first launch, and nothing is compiled or kept behind our back. One
/// stream needs one connection: with the usual eight the driver, which makes one context after the other for all
/// processes of a GPU, takes 100 ms for one and 85 ms for its end, and with one 50 and 57 ms (H200).
constexpr auto k_cuda_driver_settings =
    std::to_array<std::pair<std::string_view, std::string_view>>({{"CUDA_MODULE_LOADING", "EAGER"},
                                                                  {"CUDA_CACHE_DISABLE", "1"},
                                                                  {"CUDA_DEVICE_ORDER", "PCI_BUS_ID"},
                                                                  {"CUDA_DEVICE_MAX_CONNECTIONS", "1"}});

constexpr auto k_cuda_sanitizers = std::to_array<std::string_view>({"compute-sanitizer", "simulator"});
constexpr auto k_cuda_watchers = std::to_array<std::string_view>({
    "compute-sanitizer --tool memcheck",
    "compute-sanitizer --tool racecheck",
    "compute-sanitizer --tool initcheck",
    "compute-sanitizer --tool synccheck",
    "ncu --set full",
});
constexpr auto k_cuda_environment = std::to_array<std::string_view>({"CUDA_"});

constexpr SandboxGrants k_cuda_toolkit{
    .system = SystemFiles::of_libraries,
    .programs = {},
    .executable = false,
    .folder_variables = k_cuda_variables,
    .folders = k_cuda_folders,
    .folders_with_files = k_cuda_system_headers,
    .file_variables = k_cuda_build_files,
    .around_files = k_cuda_around_library,
    .nodes = {},
    .paths_with_nodes = {},
    .variables_with_nodes = {},
    .settings_with_nodes = {},
};

constexpr SandboxGrants k_cuda_driver{
    .system = SystemFiles::all,
    .programs = {},
    .executable = false,
    .folder_variables = {},
    .folders = {},
    .folders_with_files = {},
    .file_variables = k_cuda_run_files,
    .around_files = k_cuda_around_library,
    .nodes = k_cuda_nodes,
    .paths_with_nodes = k_cuda_driver_paths,
    .variables_with_nodes = k_cuda_driver_variables,
    .settings_with_nodes = k_cuda_driver_settings,
};

}  // namespace

const Language& cuda_language() {
  static constexpr Language k_row{
      .name = "cuda",
      .title = "CUDA C++",
      .extension = "cu",
      .fence = "cpp",
      .words = k_cuda_words,
      .extends = "",
      .headers = k_cuda_headers,
      .forbidden = {},
      .unlike_macros = {},
      .has_vector_types = false,
      .prompt = "cuda",
      .runtime = "cuda",
      .default_device = "h100",
      .gpu_compiler = "nvrtc",
      .gpu_compiler_purpose = "compiles CUDA kernels, also for GPUs that are not here",
      .gpu_reports_resources = true,
      .calibration = "",
      .simulator = SimulatorDialect{.title = "CUDA",
                                    .prelude = "cuda.cuh",
                                    .source_name = "kernel.cu",
                                    .host_prefix = "cuda",
                                    .arch_macro = "__CUDA_ARCH__",
                                    .same_conditions = k_cuda_same_conditions,
                                    .devices = k_cuda_simulated,
                                    .counts_accesses = true,
                                    .other_archs = "sim:sm_90"},
      .build = k_cuda_toolkit,
      .run = k_cuda_driver,
      .sanitizers = k_cuda_sanitizers,
      .profiler = "ncu",
      .hand_tools = HandTools{"tools/gpu/replay.py", "kernel.cubin", k_cuda_watchers},
      .toolchain = {},
      .environment = k_cuda_environment,
  };
  return k_row;
}

}  // namespace kw
