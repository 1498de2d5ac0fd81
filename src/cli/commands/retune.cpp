// kernelwright retune: searches the tunables of one bundle on a device and keeps the best as a row of its table.

#include <cstdio>

#include "archive/archive.hpp"
#include "cli/commands.hpp"
#include "cli/dispatch_text.hpp"
#include "cli/inputs.hpp"
#include "cli/print.hpp"
#include "cli/run_command.hpp"
#include "hardware/device_match.hpp"
#include "propose/search/bundle_tuner.hpp"

namespace kw {
namespace {

Result<RunSetup> read_setup(const RetuneOptions& options) {
  KW_TRY(auto setup, setup_of(options.input, options.budget));
  KW_TRY(setup.start, read_candidate(options.bundle, {}));
  KW_TRY_VOID(require_choice(setup.start->bundle));
  setup.target = setup.start->bundle.target;
  setup.proposer = k_retune;
  setup.seed = options.seed;
  setup.root = options.out;
  setup.resume = options.resume;
  return setup;
}

/// The row that makes the best candidate's assignment that of the device.
Result<DispatchRow> row_of(const RunRecord& run, const Archive& archive, std::vector<std::string> when) {
  KW_TRY(const auto attempts, archive.attempts(run.id));
  const auto& best = attempts.at(static_cast<std::size_t>(*run.best_ordinal));
  return DispatchRow{table_name(run.device), std::move(when), best.candidate.tunables};
}

}  // namespace

Result<ExitCode> run_retune(const RetuneOptions& options) {
  KW_TRY(const auto setup, read_setup(options));
  KW_TRY(auto when, read_conditions(options.when));
  RealFileSystem files;
  const SteadyClock clock;
  KW_TRY_VOID(files.create_directories(setup.root));
  KW_TRY(const auto archive, open_archive(RunDirectory::archive(setup.root)));
  KW_TRY(const auto run, run_with_progress(setup, *archive, clock, options.device, options.require_sandbox));
  KW_TRY_VOID(print_outcome(run, *archive, options.out, options.json));
  if (run.best_ordinal) {
    KW_TRY(auto row, row_of(run, *archive, std::move(when)));
    const auto& into = options.into.empty() ? options.bundle : options.into;
    KW_TRY(const std::size_t index, write_with_row(setup.start->bundle, std::move(row), into));
    print_text(options.json ? stderr : stdout, "row {}   {}\n", index + 1, into.string());
  }
  return exit_code_of_run(run);
}

}  // namespace kw
