#include "cli/run_command.hpp"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>

#include "base/text.hpp"
#include "cli/device_choice.hpp"
#include "cli/environment.hpp"
#include "cli/inputs.hpp"
#include "cli/progress.hpp"
#include "cli/version.hpp"
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

}  // namespace

Result<RunSetup> setup_of(const ProblemInput& input, const std::string& budget) {
  RunSetup setup;
  KW_TRY(setup.limits, parse_budget(budget));
  KW_TRY(setup.problem, read_problem(input));
  setup.problem_input = command_line(input);
  setup.version = std::string(k_version);
  setup.started_utc = utc_now();
  setup.environment = describe_environment();
  return setup;
}

Result<RunRecord> run_with_progress(const RunSetup& setup, Archive& archive, const Clock& clock,
                                    const std::string& device, const std::string& require_sandbox) {
  RealFileSystem files;
  TerminalProgress progress(stderr, isatty(STDERR_FILENO) == 1, clock);
  progress.phase("opening the device");
  KW_TRY(const auto opened, open_device(device, setup.target, require_sandbox));
  if (opened.workbench->sandbox().tier == SandboxTier::none) {
    progress.warning("the sandbox enforces nothing on this machine; see `kernelwright doctor`");
  }
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
  RunWorld world{*opened.workbench, archive, files, clock, progress, stop_requested, parallel_for(usable_processors()),
                 opened.tools()};
  auto run = run_loop(setup, world);
  progress.clear();
  return run;
}

Result<void> print_outcome(const RunRecord& run, const Archive& archive, const std::filesystem::path& out, bool json) {
  KW_TRY(const auto attempts, archive.attempts(run.id));
  if (json) {
    fmt::print("{}\n", final_json(run, attempts));
    return {};
  }
  KW_TRY(const auto turns, archive.turns(run.id));
  const RunDirectory directory(out, run.id);
  fmt::print("{}", to_terminal(build_report(run, attempts, turns), isatty(STDOUT_FILENO) == 1));
  fmt::print("\nkernel   {}\nreport   {}\narchive  {}\n",
             run.best_path.empty() ? "none: no candidate passed every gate" : run.best_path,
             directory.report_html().string(), RunDirectory::archive(out).string());
  return {};
}

ExitCode exit_code_of_run(const RunRecord& run) {
  if (run.status == RunStatus::interrupted) return ExitCode::interrupted;
  return run.best_ordinal ? ExitCode::success : ExitCode::rejected;
}

}  // namespace kw
