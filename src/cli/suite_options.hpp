#pragma once
// The command `suite`: what the command line says of it.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/exit_code.hpp"
#include "language/language.hpp"

namespace kw {

struct SuiteOptions {
  std::vector<std::string> paths;    ///< modules, problem files, folders of them
  std::string mode = "train";        ///< of modules; dropout is then the identity
  std::string precision = "strict";  ///< of modules' products
  double most_steps = 0;             ///< as ProblemInput has it
  std::string budget;                ///< of all problems together; empty: no limit
  std::string budget_per_problem;    ///< empty: 30 s where `budget` says nothing either
  std::vector<std::string> devices;
  std::string target{default_language().name};
  std::string style;
  std::uint64_t seed = 1;
  std::filesystem::path out = "kw-suite";
  std::filesystem::path resume;  ///< the folder of a suite to go on with; empty: none
  std::string require_sandbox = "none";
  std::vector<std::filesystem::path> baselines;
  std::filesystem::path export_to;  ///< a folder for ModelNew files; empty: none
  bool json = false;
};
/// ExitCode::success when every problem that can be scored has a verified kernel.
[[nodiscard]] Result<ExitCode> run_suite_command(const SuiteOptions& options);

}  // namespace kw
