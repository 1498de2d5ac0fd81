// HIP C++: compiled by hipcc for GPUs that are not here, and run by the simulator.
#include <array>

#include "language/rows.hpp"

namespace kw {
namespace {

/// Most of its words are CUDA's.
constexpr auto k_hip_words =
    std::to_array<std::string_view>({"hip/hip_runtime.h", "hipThreadIdx_x", "hipBlockIdx_x", "HIP_DYNAMIC_SHARED"});
constexpr auto k_hip_headers = std::to_array<std::string_view>(
    {"hip/hip_bf16.h", "hip/hip_cooperative_groups.h", "hip/hip_fp16.h", "hip/hip_runtime.h"});

constexpr auto k_hip_same_conditions = std::to_array<std::string_view>({"__gfx", "__HIP"});
constexpr auto k_hip_simulated = std::to_array<SimulatedDevice>({
    {"sim:gfx942", "mi300x", "gfx9"},
    {"sim:gfx1100", "rx7900xtx", "gfx1"},
});

/// hipcc is a program that starts others from ROCm's folders.
constexpr auto k_hip_folder_variables = std::to_array<std::string_view>({"HIP_PATH", "ROCM_PATH"});
constexpr auto k_hip_folders = std::to_array<std::string_view>({"/opt/rocm"});
constexpr auto k_hip_programs = std::to_array<std::string_view>({"KERNELWRIGHT_HIPCC"});
constexpr auto k_hip_around_program = std::to_array<std::string_view>({"."});

}  // namespace

const Language& hip_language() {
  static constexpr Language k_row{
      .name = "hip",
      .title = "HIP C++",
      .extension = "hip",
      .fence = "cpp",
      .words = k_hip_words,
      .extends = "cuda",
      .headers = k_hip_headers,
      .forbidden = {},
      .unlike_macros = {},
      .has_vector_types = false,
      .prompt = "hip",
      .runtime = "hip",
      .default_device = "mi300x",
      .gpu_compiler = "hipcc",
      .gpu_compiler_purpose = "compiles HIP kernels for GPUs that are not here",
      .gpu_reports_resources = false,
      .calibration = "",
      .simulator = SimulatorDialect{.title = "HIP",
                                    .prelude = "hip.cuh",
                                    .source_name = "kernel.hip",
                                    .host_prefix = "hip",
                                    .arch_macro = "__{}__",
                                    .same_conditions = k_hip_same_conditions,
                                    .devices = k_hip_simulated,
                                    .counts_accesses = false,
                                    .other_archs = "sim:gfx942"},
      .build = {.system = SystemFiles::all,
                .programs = {},
                .executable = true,
                .folder_variables = k_hip_folder_variables,
                .folders = k_hip_folders,
                .folders_with_files = {},
                .file_variables = k_hip_programs,
                .around_files = k_hip_around_program,
                .nodes = {},
                .paths_with_nodes = {},
                .variables_with_nodes = {},
                .settings_with_nodes = {}},
      .run = k_no_grants,
      .sanitizers = {},
      .profiler = "",
      .hand_tools = std::nullopt,
      .toolchain = {},
      .environment = {},
  };
  return k_row;
}

}  // namespace kw
