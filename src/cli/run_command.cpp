#include "cli/run_command.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>

#include "base/text.hpp"
#include "cli/device_choice.hpp"
#include "cli/environment.hpp"
#include "cli/inputs.hpp"
#include "cli/print.hpp"
#include "cli/progress.hpp"
#include "cli/version.hpp"
#include "loop/threads.hpp"
#include "report/report.hpp"
#include "report/terminal.hpp"
#include "verify/timing/disturbance.hpp"

namespace kw {
namespace {

/// Signal handlers can reach nothing but globals; this one is written by the handler and read by the loop.
std::atomic<bool> stop_requested{false};

/// Ctrl-C, a request to end, and a terminal that is gone.
constexpr std::array k_stop_signals{SIGINT, SIGTERM, SIGHUP};

/// The first one ends the run after the attempt in flight; the second ends the process as usual.
extern "C" void on_interrupt(int) {
  stop_requested = true;
  for (const int signal : k_stop_signals) std::signal(signal, SIG_DFL);
}

void handle_stop_signals() {
  for (const int signal : k_stop_signals) {
    const auto before = std::signal(signal, on_interrupt);
    // Under nohup a run outlives its terminal.
    if (signal == SIGHUP && before == SIG_IGN) std::signal(signal, SIG_IGN);
  }
}

/// As it was named, for a shell.
std::string command_line(const ProblemInput& input) {
  std::string text = shell_word(input.problem);
  for (const auto& assignment : input.set) text += " --set " + shell_word(assignment);
  for (const auto& mod : input.mods) text += " --mod " + shell_word(mod);
  for (const auto& tensor : input.tensors) text += " --tensor " + shell_word(tensor);
  if (input.most_steps > 0) text += fmt::format(" --fit {:g}", input.most_steps);
  if (!input.mode.empty()) text += " --mode " + shell_word(input.mode);
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
  if (opened.backend->sandbox().tier == SandboxTier::none) {
    progress.warning("the sandbox enforces nothing on this machine; see `kernelwright doctor`");
  }
  handle_stop_signals();
  RunServices services{
      *opened.backend, archive,    files,        clock, progress, stop_requested, parallel_for(usable_processors()),
      opened.tools(),  run_beside, waiting_share};
  auto run = run_loop(setup, services);
  progress.clear();
  return run;
}

Result<void> print_outcome(const RunRecord& run, const Archive& archive, const std::filesystem::path& out, bool json) {
  KW_TRY(const auto attempts, archive.attempts(run.id));
  if (json) {
    std::fputs((final_json(run, attempts) + "\n").c_str(), stdout);
    return {};
  }
  KW_TRY(const auto turns, archive.turns(run.id));
  const RunDirectory directory(out, run.id);
  std::fputs(to_terminal(build_report(run, attempts, turns), isatty(STDOUT_FILENO) == 1).c_str(), stdout);
  print_text("\nkernel   {}\nreport   {}\narchive  {}\n",
             run.best_path.empty() ? "none: no candidate passed every gate" : run.best_path,
             directory.report_html().string(), RunDirectory::archive(out).string());
  return {};
}

ExitCode exit_code_of_run(const RunRecord& run) {
  if (run.status == RunStatus::interrupted) return ExitCode::interrupted;
  return run.best_ordinal ? ExitCode::success : ExitCode::rejected;
}

}  // namespace kw
