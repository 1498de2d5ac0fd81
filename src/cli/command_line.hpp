#pragma once
// From the words of a command line to the options of one command. Called by run_app; does nothing but read, so that
// tests give it what a person types.

#include <string>
#include <tl/expected.hpp>
#include <variant>

#include "cli/commands.hpp"
#include "cli/exit_code.hpp"

namespace kw {

using CommandOptions =
    std::variant<OptimizeOptions, SuiteOptions, VerifyOptions, EmitOptions, BuildOptions, DispatchShowOptions,
                 DispatchAddOptions, RetuneOptions, SweepOptions, PredictOptions, ExplainOptions, DoctorOptions,
                 ProblemsOptions, ShowOptions, ArchiveCheckOptions, ArchiveRepairOptions, ArchiveExportOptions>;

/// Instead of a command: help or the version on standard output, or on standard error what is wrong.
struct CommandLineText {
  ExitCode exit_code = ExitCode::success;
  std::string out;
  std::string err;
};

/// `argv` as main() has it, the program's name first.
[[nodiscard]] tl::expected<CommandOptions, CommandLineText> parse_command_line(int argc, const char* const* argv);

/// An error as the program prints it on standard error: control characters in it, which a terminal would obey, are not.
[[nodiscard]] std::string error_text(const Error& error);

}  // namespace kw
