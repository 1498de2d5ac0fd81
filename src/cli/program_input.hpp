#pragma once
// A tensor program on the command line: FILE.py, or FILE.py:Class.

#include <optional>
#include <string>

#include "base/result.hpp"
#include "cli/commands.hpp"
#include "program/graph/graph.hpp"

namespace kw {

/// Whether `problem` names a Python file, with a class or without.
[[nodiscard]] bool names_a_program(const std::string& problem);

/// Reads the file with the --set assignments. `mode` is "train", "eval", or empty for train; errc::command_line for
/// anything else, and for options that only problem files take.
[[nodiscard]] Result<Program> read_program_input(const ProblemInput& input, const std::string& mode);

}  // namespace kw
