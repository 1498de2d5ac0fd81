// kernelwright suite: many problems, each through the same loop as `optimize`.

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/file_lock.hpp"
#include "cli/commands.hpp"
#include "cli/inputs.hpp"
#include "cli/print.hpp"
#include "cli/run_command.hpp"
#include "cli/stop_signals.hpp"
#include "cli/suite_devices.hpp"
#include "cli/suite_export.hpp"
#include "cli/suite_problem.hpp"
#include "cli/suite_progress.hpp"
#include "loop/threads.hpp"
#include "report/terminal.hpp"
#include "suite/suite_files.hpp"
#include "suite/suite_report.hpp"

namespace kw {
namespace {

constexpr std::int64_t k_max_state_bytes = std::int64_t{256} << 20;
constexpr std::int64_t k_max_baseline_bytes = std::int64_t{64} << 20;
constexpr const char* k_default_per_problem = "30s";

Result<SuiteState> asked_state(const SuiteOptions& options) {
  SuiteState state;
  KW_TRY(const auto items, list_suite_problems(options.paths));
  for (const auto& item : items) {
    SuiteRow row;
    row.item = item;
    state.rows.push_back(std::move(row));
  }
  state.settings = {options.mode, options.precision, options.most_steps,         options.target, options.style,
                    options.seed, options.devices,   options.budget_per_problem, options.budget};
  if (state.settings.devices.empty()) state.settings.devices.emplace_back();
  if (options.budget.empty() && options.budget_per_problem.empty()) {
    state.settings.budget_per_problem = k_default_per_problem;
  }
  return state;
}

/// What the folder holds of a suite, with what the command line adds to it.
Result<SuiteState> state_to_begin_with(const SuiteOptions& options, const SuiteDirectory& directory,
                                       const FileSystem& files) {
  const auto stored = [&]() -> Result<SuiteState> {
    KW_TRY(const auto text, files.read(directory.state(), k_max_state_bytes));
    return decode_suite(text, directory.state().string());
  };
  if (!options.resume.empty()) {
    KW_TRY(auto state, stored());
    if (!options.budget.empty()) state.settings.budget = options.budget;
    return state;
  }
  KW_TRY(auto asked, asked_state(options));
  if (!files.exists(directory.state())) return asked;
  KW_TRY(auto before, stored());
  return continued(std::move(before), asked);
}

Result<std::vector<SuiteBaseline>> read_baselines(const SuiteOptions& options, const FileSystem& files) {
  std::vector<SuiteBaseline> all;
  for (const auto& path : options.baselines) {
    KW_TRY(const auto text, files.read(path, k_max_baseline_bytes));
    KW_TRY(auto some, parse_suite_baselines(text, path.string()));
    for (auto& one : some) {
      const bool taken =
          one.name == "plain" || std::ranges::any_of(all, [&](const auto& other) { return other.name == one.name; });
      if (taken) {
        return fail(Error{errc::suite_baseline,
                          fmt::format("{}: there is another baseline \"{}\"", path.string(), one.name),
                          "give each baseline a name of its own; plain is the plain kernel"});
      }
      all.push_back(std::move(one));
    }
  }
  return all;
}

/// KernelBench's script runs PyTorch on a GPU of NVIDIA, and nothing else here would be a kernel for it.
Result<void> check_export(const SuiteOptions& options, const std::string& target) {
  if (options.export_to.empty() || target == "cuda") return {};
  return fail(Error{errc::command_line,
                    fmt::format("--export writes CUDA kernels for PyTorch, and this suite's target is {}", target),
                    "add --target cuda, or leave out --export"});
}

/// Before a folder is made.
Result<void> check_asked(const SuiteOptions& options, const SuiteDirectory& directory, const FileSystem& files) {
  if (options.resume.empty()) {
    KW_TRY_VOID(list_suite_problems(options.paths));
    KW_TRY_VOID(check_export(options, options.target));
  } else if (!files.exists(directory.state())) {
    return fail(Error{errc::suite_nothing, fmt::format("there is no suite in {}", directory.root().string()),
                      "name the folder that an earlier suite was given with --out"});
  }
  if (!options.budget.empty()) KW_TRY_VOID(parse_budget(options.budget));
  if (!options.budget_per_problem.empty()) KW_TRY_VOID(parse_budget(options.budget_per_problem));
  return {};
}

Result<FileLock> lock_suite(const SuiteDirectory& directory, FileSystem& files) {
  KW_TRY_VOID(files.create_directories(directory.root()));
  KW_TRY(auto lock, FileLock::try_take(directory.lock_file(), FileLock::Kind::exclusive));
  if (lock) return *std::move(lock);
  return fail(Error{errc::suite_in_progress,
                    fmt::format("the suite in {} is going on in another process", directory.root().string()),
                    "wait for it to end, or choose another folder with --out"});
}

Result<SuiteState> carry_out_suite(const SuiteOptions& options, const SuiteDirectory& directory, SuiteState state,
                                   RealFileSystem& files, const std::atomic<bool>& stop) {
  const SteadyClock clock;
  const SuiteSettings settings = state.settings;
  KW_TRY(const auto devices,
         open_suite_devices({settings, options.require_sandbox, RunDirectory::archive(directory.root()), clock, stop}));
  std::vector<SuiteDevice*> pointers;
  for (const auto& device : devices) pointers.push_back(device.get());
  SuiteProgress progress(stderr, terminal_columns(stderr));
  RunSetup common;
  describe_conditions(common);
  SuiteServices services{[&](const SuiteRow& row) { return read_suite_problem(row, settings); },
                         std::move(common),
                         pointers,
                         files,
                         clock,
                         progress,
                         stop,
                         parallel_for(static_cast<int>(pointers.size()))};
  auto done = run_suite(std::move(state), directory, services);
  progress.clear();
  return done;
}

Result<void> export_suite(const SuiteOptions& options, const SuiteDirectory& directory, SuiteState& state,
                          FileSystem& files) {
  KW_TRY(const auto archive, open_archive(RunDirectory::archive(directory.root())));
  KW_TRY_VOID(export_kernels(state, options.export_to, *archive, files));
  return files.write_atomic(directory.state(), encode_suite(state));
}

Result<void> print_suite(const SuiteState& state, const SuiteDirectory& directory,
                         const std::vector<SuiteBaseline>& baselines, bool json) {
  const SuiteFigures figures = figures_of(state, baselines);
  if (json) {
    std::fputs(suite_results_json(state, figures).c_str(), stdout);
    return {};
  }
  const auto model = build_suite_report(state, figures, baselines, directory.root().filename().string());
  std::fputs(to_terminal(model, isatty(STDOUT_FILENO) == 1).c_str(), stdout);
  print_text("\npage     {}\nresults  {}\narchive  {}\n", directory.page().string(), directory.results().string(),
             RunDirectory::archive(directory.root()).string());
  return {};
}

ExitCode exit_code_of_suite(const SuiteState& state, bool stopped) {
  if (stopped) return ExitCode::interrupted;
  const bool all = std::ranges::all_of(state.rows, [](const SuiteRow& row) {
    return row.status == SuiteStatus::solved || row.status == SuiteStatus::unscorable;
  });
  return all ? ExitCode::success : ExitCode::rejected;
}

}  // namespace

Result<ExitCode> run_suite_command(const SuiteOptions& options) {
  RealFileSystem files;
  const SuiteDirectory directory(options.resume.empty() ? options.out : options.resume);
  KW_TRY(const auto baselines, read_baselines(options, files));
  KW_TRY_VOID(check_asked(options, directory, files));
  KW_TRY(const auto lock, lock_suite(directory, files));
  KW_TRY(auto state, state_to_begin_with(options, directory, files));
  KW_TRY_VOID(check_export(options, state.settings.target));
  const auto& stop = watch_stop_signals();
  KW_TRY(state, carry_out_suite(options, directory, std::move(state), files, stop));
  if (!options.export_to.empty()) KW_TRY_VOID(export_suite(options, directory, state, files));
  KW_TRY_VOID(write_suite_files(directory, state, baselines, files));
  KW_TRY_VOID(print_suite(state, directory, baselines, options.json));
  return exit_code_of_suite(state, stop);
}

}  // namespace kw
