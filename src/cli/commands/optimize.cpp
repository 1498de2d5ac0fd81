// kernelwright optimize: one run of the closed loop.

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>

#include "archive/archive.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/device_choice.hpp"
#include "cli/environment.hpp"
#include "cli/inputs.hpp"
#include "cli/progress.hpp"
#include "cli/version.hpp"
#include "codegen/codegen.hpp"
#include "loop/run.hpp"
#include "loop/threads.hpp"
#include "report/report.hpp"
#include "report/terminal.hpp"

namespace kw {
namespace {

/// Signal handlers can reach nothing but globals; this one is written by the handler and read by the loop.
std::atomic<bool> stop_requested{false};

/// The first Ctrl-C ends the run after the attempt in flight; the second ends the process as usual.
extern "C" void on_interrupt(int) {
  stop_requested = true;
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

/// As it was named, for a shell.
std::string command_line(const ProblemInput& input) {
  std::string text = shell_word(input.problem);
  for (const auto& assignment : input.set) text += " --set " + shell_word(assignment);
  for (const auto& mod : input.mods) text += " --mod " + shell_word(mod);
  return text;
}

Result<RunSetup> read_setup(const OptimizeOptions& options) {
  RunSetup setup;
  KW_TRY(setup.limits, parse_budget(options.budget));
  KW_TRY(setup.problem, read_problem(options.input));
  setup.problem_input = command_line(options.input);
  setup.target = options.target;
  setup.style = options.style;
  setup.seed = options.seed;
  setup.root = options.out;
  setup.resume = options.resume;
  setup.version = std::string(k_version);
  setup.started_utc = utc_now();
  setup.environment = describe_environment();
  return setup;
}

Result<void> print_outcome(const OptimizeOptions& options, const RunRecord& run, const Archive& archive) {
  KW_TRY(const auto attempts, archive.attempts(run.id));
  if (options.json) {
    fmt::print("{}\n", final_json(run, attempts));
    return {};
  }
  KW_TRY(const auto turns, archive.turns(run.id));
  const RunDirectory directory(options.out, run.id);
  fmt::print("{}", to_terminal(build_report(run, attempts, turns), isatty(STDOUT_FILENO) == 1));
  fmt::print("\nkernel   {}\nreport   {}\narchive  {}\n",
             run.best_path.empty() ? "none: no candidate passed every gate" : run.best_path,
             directory.report_html().string(), RunDirectory::archive(options.out).string());
  return {};
}

ExitCode exit_code_of_run(const RunRecord& run) {
  if (run.status == RunStatus::interrupted) return ExitCode::interrupted;
  return run.best_ordinal ? ExitCode::success : ExitCode::rejected;
}

}  // namespace

Result<ExitCode> run_optimize(const OptimizeOptions& options) {
  KW_TRY(auto setup, read_setup(options));
  RealFileSystem files;
  const SteadyClock clock;
  KW_TRY_VOID(files.create_directories(setup.root));
  KW_TRY(const auto archive, open_archive(RunDirectory::archive(setup.root)));
  KW_TRY(const auto model, open_model(options.model, clock, *archive, setup));
  TerminalProgress progress(stderr, isatty(STDERR_FILENO) == 1, clock);
  progress.phase("opening the device");
  KW_TRY(const auto device, open_device(options.device, options.target, options.require_sandbox));
  if (device.workbench->sandbox().tier == SandboxTier::none) {
    progress.warning("the sandbox enforces nothing on this machine; see `kernelwright doctor`");
  }
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
  RunWorld world{
      *device.workbench,     *archive, files, clock, progress, stop_requested, parallel_for(usable_processors()),
      device.sanitizer.get()};
  const auto run = run_loop(setup, world);
  progress.clear();
  if (!run) return tl::unexpected(run.error());
  KW_TRY_VOID(print_outcome(options, *run, *archive));
  return exit_code_of_run(*run);
}

}  // namespace kw
