#include "cli/run_command.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/text.hpp"
#include "cli/device_choice.hpp"
#include "cli/environment.hpp"
#include "cli/inputs.hpp"
#include "cli/print.hpp"
#include "cli/progress.hpp"
#include "cli/stop_signals.hpp"
#include "cli/version.hpp"
#include "loop/threads.hpp"
#include "report/report.hpp"
#include "report/terminal.hpp"
#include "verify/timing/disturbance.hpp"

namespace kw {

std::string problem_words(const ProblemInput& input) {
  std::string text = shell_word(input.problem);
  for (const auto& assignment : input.set) text += " --set " + shell_word(assignment);
  for (const auto& mod : input.mods) text += " --mod " + shell_word(mod);
  for (const auto& tensor : input.tensors) text += " --tensor " + shell_word(tensor);
  if (input.most_steps > 0) text += fmt::format(" --fit {:g}", input.most_steps);
  if (!input.mode.empty()) text += " --mode " + shell_word(input.mode);
  if (!input.precision.empty()) text += " --precision " + shell_word(input.precision);
  return text;
}

/// Beside a launch and its check there are cores for one compiler on a small machine, and for more on a large one. Few
/// of those in flight are being compiled at a time, but one that takes long keeps all behind it waiting. Not more than
/// was tried: each is proposed without knowing what became of those before it.
int candidates_in_flight(int processors) {
  constexpr int k_many_processors = 8, k_most = 12;
  return processors < k_many_processors ? 2 : std::min(processors * 3 / 4, k_most);
}

void describe_conditions(RunSetup& setup) {
  setup.version = std::string(k_version);
  setup.started_utc = utc_now();
  setup.environment = describe_environment();
}

Result<RunSetup> setup_of(const ProblemInput& input, const std::string& budget) {
  RunSetup setup;
  KW_TRY(setup.limits, parse_budget(budget));
  KW_TRY(setup.problem, read_problem(input));
  setup.problem_input = problem_words(input);
  setup.in_flight = candidates_in_flight(usable_processors());
  describe_conditions(setup);
  return setup;
}

Result<RunRecord> run_with_progress(const RunSetup& setup, Archive& archive, const Clock& clock,
                                    const std::string& device, const std::string& require_sandbox) {
  const Instant began = clock.now();
  RealFileSystem files;
  TerminalProgress progress(stderr, isatty(STDERR_FILENO) == 1, clock);
  progress.phase("opening the device");
  KW_TRY(const auto opened, open_device(device, setup.target, require_sandbox));
  if (opened.backend->sandbox().tier == SandboxTier::none) {
    progress.warning("the sandbox enforces nothing on this machine; see `kernelwright doctor`");
  }
  RunServices services{*opened.backend,
                       archive,
                       files,
                       clock,
                       progress,
                       watch_stop_signals(),
                       parallel_for(usable_processors()),
                       opened.tools(),
                       run_beside,
                       start_now,
                       waiting_share,
                       began};
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
