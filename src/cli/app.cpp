#include "cli/app.hpp"

#include <cstdio>

#include "cli/command_line.hpp"

namespace kw {
namespace {

/// Every command by the options it takes.
struct RunCommand {
  Result<ExitCode> operator()(const OptimizeOptions& options) const { return run_optimize(options); }
  Result<ExitCode> operator()(const SuiteOptions& options) const { return run_suite_command(options); }
  Result<ExitCode> operator()(const VerifyOptions& options) const { return run_verify(options); }
  Result<ExitCode> operator()(const EmitOptions& options) const { return run_emit(options); }
  Result<ExitCode> operator()(const BuildOptions& options) const { return run_build(options); }
  Result<ExitCode> operator()(const DispatchShowOptions& options) const { return run_dispatch_show(options); }
  Result<ExitCode> operator()(const DispatchAddOptions& options) const { return run_dispatch_add(options); }
  Result<ExitCode> operator()(const RetuneOptions& options) const { return run_retune(options); }
  Result<ExitCode> operator()(const SweepOptions& options) const { return run_sweep_command(options); }
  Result<ExitCode> operator()(const PredictOptions& options) const { return run_predict(options); }
  Result<ExitCode> operator()(const ExplainOptions& options) const { return run_explain(options); }
  Result<ExitCode> operator()(const DoctorOptions& options) const { return run_doctor(options); }
  Result<ExitCode> operator()(const ProblemsOptions& options) const { return run_problems(options); }
  Result<ExitCode> operator()(const ShowOptions& options) const { return run_show(options); }
  Result<ExitCode> operator()(const ArchiveCheckOptions& options) const { return run_archive_check(options); }
  Result<ExitCode> operator()(const ArchiveRepairOptions& options) const { return run_archive_repair(options); }
  Result<ExitCode> operator()(const ArchiveExportOptions& options) const { return run_archive_export(options); }
};

}  // namespace

int run_app(int argc, const char* const* argv) {
  const auto options = parse_command_line(argc, argv);
  if (!options) {
    std::fputs(options.error().out.c_str(), stdout);
    std::fputs(options.error().err.c_str(), stderr);
    return static_cast<int>(options.error().exit_code);
  }
  const auto result = std::visit(RunCommand{}, *options);
  std::fflush(stdout);
  if (result) return static_cast<int>(*result);
  std::fputs(error_text(result.error()).c_str(), stderr);
  return static_cast<int>(exit_code_of(result.error()));
}

}  // namespace kw
