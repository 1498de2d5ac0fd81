#pragma once
// The modules of KernelBench's levels 1 and 2, which are no part of the project: KW_KERNELBENCH names the folder that
// has level1 and level2, or they lie beside the repository's shared folder. Tests without them say that they are
// skipped.

#include <filesystem>
#include <string>
#include <vector>

namespace kw::program_test {

[[nodiscard]] std::filesystem::path kernelbench_folder();
/// Sorted by level and name; none where the folder is not there.
[[nodiscard]] std::vector<std::filesystem::path> kernelbench_files();
/// "no KernelBench files in ...": what a skipped test says.
[[nodiscard]] std::string no_kernelbench();
/// All of a text file; "" where it cannot be read.
[[nodiscard]] std::string text_of_file(const std::filesystem::path& path);

}  // namespace kw::program_test
