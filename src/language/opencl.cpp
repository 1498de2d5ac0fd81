// OpenCL C, run by any OpenCL driver: PoCL on this machine's CPU.
#include <array>

#include "language/rows.hpp"

namespace kw {
namespace {

constexpr auto k_opencl_words = std::to_array<std::string_view>(
    {"__kernel", "kernel void", "get_global_id", "get_group_id", "get_local_id", "__global", "CLK_LOCAL_MEM_FENCE"});

/// What leads out of OpenCL C: other files, assembly, functions by address, what runs when an object is loaded or where
/// it lies, time stamps and the stack; and what tells one compiler or build from another.
constexpr auto k_opencl_forbidden = std::to_array<std::string_view>({"include",
                                                                     "include_next",
                                                                     "import",
                                                                     "__include_macros",
                                                                     "embed",
                                                                     "__has_include",
                                                                     "__has_include_next",
                                                                     "__has_embed",
                                                                     "__has_builtin",
                                                                     "__has_feature",
                                                                     "__has_extension",
                                                                     "__has_attribute",
                                                                     "__has_warning",
                                                                     "__is_identifier",
                                                                     "__COUNTER__",
                                                                     "__INCLUDE_LEVEL__",
                                                                     "KW_BUILD",
                                                                     "asm",
                                                                     "__asm",
                                                                     "__asm__",
                                                                     "__cl_clang_function_pointers",
                                                                     "__cl_clang_variadic_functions",
                                                                     "constructor",
                                                                     "__constructor__",
                                                                     "destructor",
                                                                     "__destructor__",
                                                                     "section",
                                                                     "__section__",
                                                                     "ifunc",
                                                                     "__ifunc__",
                                                                     "alias",
                                                                     "__alias__",
                                                                     "weakref",
                                                                     "__weakref__",
                                                                     "naked",
                                                                     "__naked__",
                                                                     "__builtin_readcyclecounter",
                                                                     "__builtin_ia32_rdtsc",
                                                                     "__builtin_ia32_rdtscp",
                                                                     "__builtin_ia32_rdpmc",
                                                                     "__builtin_return_address",
                                                                     "__builtin_frame_address",
                                                                     "__builtin_setjmp",
                                                                     "__builtin_longjmp",
                                                                     "__builtin_alloca",
                                                                     "__builtin_alloca_with_align"});

/// What PoCL's compiler and Oclgrind's say of themselves, of their targets and of the text's file and time.
constexpr auto k_opencl_unlike_macros = std::to_array<std::string_view>({"__FILE__",
                                                                         "__FILE_NAME__",
                                                                         "__BASE_FILE__",
                                                                         "__DATE__",
                                                                         "__TIME__",
                                                                         "__TIMESTAMP__",
                                                                         "__VERSION__",
                                                                         "__clang_version__",
                                                                         "__clang_major__",
                                                                         "__clang_minor__",
                                                                         "__clang_patchlevel__",
                                                                         "__OPENCL_VERSION__",
                                                                         "__OPENCL_C_VERSION__",
                                                                         "__BIGGEST_ALIGNMENT__",
                                                                         "__WINT_MAX__",
                                                                         "__WINT_TYPE__",
                                                                         "__CLANG_ATOMIC_BOOL_LOCK_FREE",
                                                                         "__CLANG_ATOMIC_CHAR_LOCK_FREE",
                                                                         "__CLANG_ATOMIC_CHAR16_T_LOCK_FREE",
                                                                         "__CLANG_ATOMIC_CHAR32_T_LOCK_FREE",
                                                                         "__CLANG_ATOMIC_WCHAR_T_LOCK_FREE",
                                                                         "__CLANG_ATOMIC_SHORT_LOCK_FREE",
                                                                         "__CLANG_ATOMIC_INT_LOCK_FREE",
                                                                         "__CLANG_ATOMIC_LONG_LOCK_FREE",
                                                                         "__CLANG_ATOMIC_LLONG_LOCK_FREE",
                                                                         "__CLANG_ATOMIC_POINTER_LOCK_FREE",
                                                                         "__GCC_ATOMIC_BOOL_LOCK_FREE",
                                                                         "__GCC_ATOMIC_CHAR_LOCK_FREE",
                                                                         "__GCC_ATOMIC_CHAR16_T_LOCK_FREE",
                                                                         "__GCC_ATOMIC_CHAR32_T_LOCK_FREE",
                                                                         "__GCC_ATOMIC_WCHAR_T_LOCK_FREE",
                                                                         "__GCC_ATOMIC_SHORT_LOCK_FREE",
                                                                         "__GCC_ATOMIC_INT_LOCK_FREE",
                                                                         "__GCC_ATOMIC_LONG_LOCK_FREE",
                                                                         "__GCC_ATOMIC_LLONG_LOCK_FREE",
                                                                         "__GCC_ATOMIC_POINTER_LOCK_FREE"});

constexpr auto k_opencl_sanitizers = std::to_array<std::string_view>({"oclgrind"});

constexpr auto k_opencl_toolchain = std::to_array<Toolchain>({
    {"ld", "links OpenCL kernels for the CPU (PoCL runs it)", "/usr/bin/ld", "apt-get install binutils"},
    {"oclgrind", "sanitizes OpenCL kernels before they become the best", "/usr/lib/oclgrind/liboclgrind-rt-icd.so",
     "apt-get install oclgrind"},
});

/// PoCL has its linker do the last step.
constexpr auto k_opencl_programs = std::to_array<std::string_view>({"ld"});

constexpr auto k_opencl_environment = std::to_array<std::string_view>({"POCL_", "OCL_ICD_"});

}  // namespace

const Language& opencl_language() {
  static constexpr Language k_row{
      .name = "opencl",
      .title = "OpenCL C",
      .extension = "cl",
      .fence = "c",
      .words = k_opencl_words,
      .extends = "",
      .headers = {},
      .forbidden = k_opencl_forbidden,
      .unlike_macros = k_opencl_unlike_macros,
      .has_vector_types = true,
      .prompt = "opencl",
      .runtime = "opencl",
      .default_device = "",
      .gpu_compiler = "",
      .gpu_compiler_purpose = "",
      .gpu_reports_resources = false,
      .calibration = "shared/calibration.cl",
      .simulator = std::nullopt,
      .build = {.system = SystemFiles::of_libraries,
                .programs = k_opencl_programs,
                .executable = false,
                .folder_variables = {},
                .folders = {},
                .folders_with_files = {},
                .file_variables = {},
                .around_files = {},
                .nodes = {},
                .paths_with_nodes = {},
                .variables_with_nodes = {},
                .settings_with_nodes = {}},
      .run = k_no_grants,
      .sanitizers = k_opencl_sanitizers,
      .profiler = "",
      .hand_tools = std::nullopt,
      .toolchain = k_opencl_toolchain,
      .environment = k_opencl_environment,
  };
  return k_row;
}

}  // namespace kw
