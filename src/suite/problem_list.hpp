#pragma once
// The problems of a suite: module files (*.py), problem files (*.toml), and folders of them.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "suite/suite_errors.hpp"

namespace kw {

struct SuiteItem {
  std::string name;   ///< of its folder and file: "level1/23_Softmax"; no two problems of a suite share one
  std::string input;  ///< as `optimize` takes it: a path, for a module with ":Class" where a class was named
  /// KernelBench's numbers, where folder and file have them: 1 and 23.
  std::optional<std::int64_t> level;
  std::optional<std::int64_t> id;
};

/// Folders give every *.py and *.toml below them but those whose names begin with "." or "_", by the number that the
/// name begins with, then by name. A file given twice counts once. errc::not_found; errc::suite_problem for a file of
/// another kind, and for two files of one name; errc::suite_empty for a folder without any, and for no path at all.
[[nodiscard]] Result<std::vector<SuiteItem>> list_suite_problems(const std::vector<std::string>& paths);

}  // namespace kw
