#pragma once
// The commands of the program. Each fills its options from the command line, does its work, prints to stdout (progress
// and errors to stderr) and says how it went.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/exit_code.hpp"
#include "cli/model_options.hpp"
#include "cli/problem_input.hpp"
#include "cli/suite_options.hpp"
#include "cli/table_options.hpp"
#include "language/language.hpp"
#include "problem/problem.hpp"

namespace kw {

struct OptimizeOptions {
  ProblemInput input;
  std::string budget = "60s";
  std::string device;  ///< empty: the first device of the target
  std::string target{default_language().name};
  std::string style;  ///< empty: the fastest that writes the problem for the device
  std::uint64_t seed = 1;
  std::filesystem::path out = "kw-runs";
  std::string require_sandbox = "none";
  bool resume = false;
  bool json = false;
  ModelOptions model;
};
[[nodiscard]] Result<ExitCode> run_optimize(const OptimizeOptions& options);

struct VerifyOptions {
  ProblemInput input;
  std::filesystem::path bundle;
  std::string device;
  std::vector<std::string> tune;  ///< NAME=VALUE
  std::string require_sandbox = "none";
  bool profile = true;  ///< also what decides nothing: hardware counters, the simulator's counts
  bool json = false;
};
[[nodiscard]] Result<ExitCode> run_verify(const VerifyOptions& options);

struct EmitOptions {
  ProblemInput input;
  std::string target{default_language().name};
  std::string style;                   ///< empty: the fastest that writes the problem for the device
  std::vector<std::string> devices;    ///< facts to write for: shipped names or FILE.json; empty: by target
  std::vector<std::string> structure;  ///< NAME=VALUE, structural choices of the style
  bool source_only = false;
};
[[nodiscard]] Result<ExitCode> run_emit(const EmitOptions& options);

struct BuildOptions {
  ProblemInput input;
  std::filesystem::path bundle;
  std::string device;             ///< a shipped name, FILE.json, or one of this machine
  std::vector<std::string> tune;  ///< NAME=VALUE
  std::filesystem::path binary;   ///< where to write the primary workload's binary; empty: nowhere
  bool json = false;
};
[[nodiscard]] Result<ExitCode> run_build(const BuildOptions& options);

struct DispatchShowOptions {
  ProblemInput input;
  std::filesystem::path bundle;
  std::string device;  ///< a shipped name, FILE.json, or one of this machine
  bool json = false;
};
[[nodiscard]] Result<ExitCode> run_dispatch_show(const DispatchShowOptions& options);

struct DispatchAddOptions {
  std::filesystem::path bundle;
  std::string device;             ///< empty: any
  std::vector<std::string> when;  ///< expressions
  std::vector<std::string> tune;  ///< NAME=VALUE
  std::filesystem::path into;     ///< empty: the bundle itself
};
[[nodiscard]] Result<ExitCode> run_dispatch_add(const DispatchAddOptions& options);

struct RetuneOptions {
  ProblemInput input;
  std::filesystem::path bundle;
  std::string budget = "60s";
  std::string device;             ///< empty: the first device of the bundle's target
  std::vector<std::string> when;  ///< conditions of the row
  std::filesystem::path into;     ///< empty: the bundle itself
  std::uint64_t seed = 1;
  std::filesystem::path out = "kw-runs";
  std::string require_sandbox = "none";
  bool resume = false;
  bool json = false;
};
[[nodiscard]] Result<ExitCode> run_retune(const RetuneOptions& options);

struct ExplainOptions {
  ProblemInput input;  ///< also FILE.py or FILE.py:Class, a module
  bool json = false;
};
[[nodiscard]] Result<ExitCode> run_explain(const ExplainOptions& options);

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

struct ArchiveCheckOptions {
  std::filesystem::path out = "kw-runs";
  bool json = false;
};
/// ExitCode::internal when anything is damaged.
[[nodiscard]] Result<ExitCode> run_archive_check(const ArchiveCheckOptions& options);

struct ArchiveRepairOptions {
  std::filesystem::path out = "kw-runs";
  bool json = false;
};
[[nodiscard]] Result<ExitCode> run_archive_repair(const ArchiveRepairOptions& options);

struct ArchiveExportOptions {
  std::vector<std::string> runs;  ///< ids, prefixes or "last"; none: every whole run
  std::filesystem::path out = "kw-runs";
  std::filesystem::path to;  ///< empty: standard output
};
[[nodiscard]] Result<ExitCode> run_archive_export(const ArchiveExportOptions& options);

}  // namespace kw
