#pragma once
// The commands about tables of times: `sweep` makes them, `predict` learns from them.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/exit_code.hpp"
#include "cli/problem_input.hpp"
#include "language/language.hpp"

namespace kw {

struct SweepOptions {
  ProblemInput input;
  std::int64_t count = 200;         ///< rows of the table
  bool all = false;                 ///< the whole space, whatever `count`
  std::vector<std::string> values;  ///< NAME=VALUE,VALUE,...: a part of the space
  std::string budget;               ///< empty: none
  std::string device;               ///< empty: the first device of the target
  std::string target{default_language().name};
  std::string style;  ///< empty: the fastest that writes the problem for the device
  std::uint64_t seed = 1;
  std::filesystem::path out;  ///< the table
  std::string require_sandbox = "none";
};
[[nodiscard]] Result<ExitCode> run_sweep_command(const SweepOptions& options);

struct PredictOptions {
  ProblemInput input;  ///< its problem may be empty with held_out
  std::string device;  ///< a shipped name, FILE.json, or one of this machine; empty: by target
  std::string target{default_language().name};
  std::string style;                          ///< empty: the fastest that writes the problem for the device
  std::vector<std::filesystem::path> tables;  ///< of `sweep`, to learn from beside the archive
  std::filesystem::path out = "kw-runs";      ///< folder of the archive, which need not be there
  bool held_out = false;                      ///< how good predictions are, instead of one
  bool json = false;
};
[[nodiscard]] Result<ExitCode> run_predict(const PredictOptions& options);

}  // namespace kw
