#pragma once
// The commands of the program. Each fills its options from the command line, does its work, prints to stdout (progress
// and errors to stderr) and says how it went.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/exit_code.hpp"
#include "spec/problem.hpp"

namespace kw {

struct OptimizeOptions {
  std::string problem;
  std::string budget = "60s";
  std::string device;  ///< empty: the first device of the target
  std::string target = "opencl";
  std::string style = "vector";
  std::vector<std::string> set;
  std::uint64_t seed = 1;
  std::filesystem::path out = "kw-runs";
  std::string require_sandbox = "none";
  bool resume = false;
  bool json = false;
};
[[nodiscard]] Result<ExitCode> run_optimize(const OptimizeOptions& options);

struct VerifyOptions {
  std::string problem;
  std::filesystem::path bundle;
  std::string device;
  std::vector<std::string> set;
  std::vector<std::string> tune;  ///< NAME=VALUE
  std::string require_sandbox = "none";
  bool json = false;
};
[[nodiscard]] Result<ExitCode> run_verify(const VerifyOptions& options);

struct EmitOptions {
  std::string problem;
  std::string target = "opencl";
  std::string style = "vector";
  std::vector<std::string> set;
  std::vector<std::string> structure;  ///< NAME=VALUE, structural choices of the style
  bool source_only = false;
};
[[nodiscard]] Result<ExitCode> run_emit(const EmitOptions& options);

struct DoctorOptions {
  bool json = false;
};
[[nodiscard]] Result<ExitCode> run_doctor(const DoctorOptions& options);

struct ProblemsOptions {
  bool json = false;
};
[[nodiscard]] Result<ExitCode> run_problems(const ProblemsOptions& options);

struct ShowOptions {
  std::string run = "last";
  std::filesystem::path out = "kw-runs";
  std::string format = "text";  ///< text, markdown, json, html
};
[[nodiscard]] Result<ExitCode> run_show(const ShowOptions& options);

}  // namespace kw
