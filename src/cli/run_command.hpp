#pragma once
// What the commands that carry out a run share: how it is set up, watched and reported.

#include <filesystem>
#include <string>

#include "archive/archive.hpp"
#include "base/clock.hpp"
#include "cli/commands.hpp"
#include "loop/run.hpp"

namespace kw {

/// Problem, limits, and what the record says about this program and machine; the rest is the command's.
[[nodiscard]] Result<RunSetup> setup_of(const ProblemInput& input, const std::string& budget);

/// The part of it that says when and where a run is made.
void describe_conditions(RunSetup& setup);

/// The problem as it was named, for a shell.
[[nodiscard]] std::string problem_words(const ProblemInput& input);

/// Opens the device, and runs with progress on standard error. Ctrl-C ends the run after the attempt in flight.
[[nodiscard]] Result<RunRecord> run_with_progress(const RunSetup& setup, Archive& archive, const Clock& clock,
                                                  const std::string& device, const std::string& require_sandbox);

/// The report, or with `json` one JSON object, on standard output. `out` is the folder of the archive.
[[nodiscard]] Result<void> print_outcome(const RunRecord& run, const Archive& archive, const std::filesystem::path& out,
                                         bool json);

[[nodiscard]] ExitCode exit_code_of_run(const RunRecord& run);

}  // namespace kw
