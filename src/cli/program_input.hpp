#pragma once
// A tensor program on the command line: FILE.py, or FILE.py:Class.

#include <optional>
#include <string>

#include "base/result.hpp"
#include "cli/commands.hpp"
#include "problem/problem.hpp"
#include "program/graph/graph.hpp"

namespace kw {

/// Whether `problem` names a Python file, with a class or without.
[[nodiscard]] bool names_a_program(const std::string& problem);

/// Reads the file with the --set assignments. errc::command_line for options that only problem files take, and for a
/// mode that is none.
[[nodiscard]] Result<Program> read_program_input(const ProblemInput& input);

/// The problem that the module is, with what its file leaves unsaid derived by the operator `program`.
[[nodiscard]] Result<Problem> read_module_problem(const ProblemInput& input);

}  // namespace kw
