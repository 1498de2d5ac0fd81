// kernelwright optimize: one run of the closed loop.

#include "archive/archive.hpp"
#include "cli/commands.hpp"
#include "cli/run_command.hpp"
#include "loop/run.hpp"

namespace kw {
namespace {

Result<RunSetup> read_setup(const OptimizeOptions& options) {
  KW_TRY(auto setup, setup_of(options.input, options.budget));
  setup.target = options.target;
  setup.style = options.style;
  setup.seed = options.seed;
  setup.root = options.out;
  setup.resume = options.resume;
  return setup;
}

}  // namespace

Result<ExitCode> run_optimize(const OptimizeOptions& options) {
  KW_TRY(auto setup, read_setup(options));
  RealFileSystem files;
  const SteadyClock clock;
  KW_TRY_VOID(files.create_directories(setup.root));
  KW_TRY(const auto archive, open_archive(RunDirectory::archive(setup.root)));
  KW_TRY(const auto model, open_model(options.model, clock, *archive, setup));
  KW_TRY(const auto run, run_with_progress(setup, *archive, clock, options.device, options.require_sandbox));
  KW_TRY_VOID(print_outcome(run, *archive, options.out, options.json));
  return exit_code_of_run(run);
}

}  // namespace kw
