#pragma once
// What the sandbox has to let through for a language, beyond what every worker gets: as plain data, which
// verify/processes/language_access.hpp turns into rules for one machine.

#include <array>
#include <span>
#include <string_view>
#include <utility>

namespace kw {

/// What of the system's own folders is open: all of /usr, or the libraries and what goes with those of OpenCL, of a
/// compiler and of a linker.
enum class SystemFiles : unsigned char { all, of_libraries };

/// What is missing on a machine is skipped. The members that end in _with_nodes count only where there is a node.
struct SandboxGrants {
  SystemFiles system;
  /// Programs that the compiler starts, by their names in the folders of PATH; for SystemFiles::of_libraries, because
  /// all others may start what they find.
  std::span<const std::string_view> programs;
  bool executable;  ///< programs in the opened folders may be executed, not only read
  /// Variables of this process that are handed on, such as CUDA_HOME, and whose values are folders to open.
  std::span<const std::string_view> folder_variables;
  std::span<const std::string_view> folders;
  /// Folders that are opened only where they hold a file, such as /usr/include for cuda_fp16.h: folder and file.
  std::span<const std::pair<std::string_view, std::string_view>> folders_with_files;
  /// Variables that are handed on and name a library or a program. Opened are the folders `around_files`, relative to
  /// the one that the file lies in; where that is called bin, relative to the one above it.
  std::span<const std::string_view> file_variables;
  std::span<const std::string_view> around_files;
  /// Device nodes below /dev to open for reading and writing. '#' stands for a number, '*' for any name.
  std::span<const std::string_view> nodes;
  std::span<const std::string_view> paths_with_nodes;
  std::span<const std::string_view> variables_with_nodes;  ///< handed on
  std::span<const std::pair<std::string_view, std::string_view>> settings_with_nodes;
};

namespace host_compiler {
inline constexpr std::array<std::string_view, 3> k_programs = {"g++", "as", "ld"};
/// The programs that g++ starts lie with its libraries or, newer ones, in a folder of their own.
inline constexpr std::array<std::string_view, 4> k_folders = {"/usr/include", "/usr/lib/gcc", "/usr/libexec/gcc",
                                                              "/usr/local/include"};
}  // namespace host_compiler

/// For g++, by which the simulator compiles kernels for this machine's processor.
inline constexpr SandboxGrants k_host_compiler_grants{
    .system = SystemFiles::of_libraries,
    .programs = host_compiler::k_programs,
    .executable = true,
    .folder_variables = {},
    .folders = host_compiler::k_folders,
    .folders_with_files = {},
    .file_variables = {},
    .around_files = {},
    .nodes = {},
    .paths_with_nodes = {},
    .variables_with_nodes = {},
    .settings_with_nodes = {},
};

/// Nothing beyond what every worker gets.
inline constexpr SandboxGrants k_no_grants{
    .system = SystemFiles::all,
    .programs = {},
    .executable = false,
    .folder_variables = {},
    .folders = {},
    .folders_with_files = {},
    .file_variables = {},
    .around_files = {},
    .nodes = {},
    .paths_with_nodes = {},
    .variables_with_nodes = {},
    .settings_with_nodes = {},
};

}  // namespace kw
