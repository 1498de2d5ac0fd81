#pragma once
// Reads the tables [tensors.NAME] of a problem file.

#include <filesystem>

#include "base/file_system.hpp"
#include "base/result.hpp"
#include "problem/file/config_tree.hpp"
#include "problem/problem.hpp"

namespace kw {

/// Where the files stand that a problem file names; null when its text came from nowhere.
struct ProblemFolder {
  const FileSystem* files = nullptr;
  std::filesystem::path path;
};

/// Appends to problem.captures in the order of the file. An axis that only values have is added to `axes`, those of the
/// primary workload, and to problem.own_axes. Constants and own axes must have been read.
[[nodiscard]] Result<void> read_captures(const ConfigValue& root, const ProblemFolder& folder, Axes& axes,
                                         Problem& problem);

/// Makes the nominal draws of the workloads, as many as are quick, so that values that break what is declared are found
/// before they are needed. The error stands at the tensor's table.
[[nodiscard]] Result<void> check_draws(const ConfigValue& root, const Problem& problem);

}  // namespace kw
