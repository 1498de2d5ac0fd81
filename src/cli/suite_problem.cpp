#include "cli/suite_problem.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "cli/inputs.hpp"
#include "cli/program_input.hpp"
#include "cli/run_command.hpp"
#include "program/graph/precision.hpp"
#include "report/sections.hpp"

namespace kw {
namespace {

bool has_random_dropout(const Program& program) {
  return std::ranges::any_of(program.graph.nodes, [](const Node& node) { return node.random && is_dropout(node); });
}

/// "batch_size = 2 instead of 4096": the axes of the primary that are not what the file says.
std::vector<std::string> changed_axes(const Program& program, const Problem& problem) {
  std::vector<std::string> changed;
  for (const auto& axis : program.axes) {
    const auto now = problem.primary().axes.find(axis.name);
    if (now == problem.primary().axes.end() || now->second == axis.extent) continue;
    changed.push_back(fmt::format("{} = {} instead of {}", axis.name, now->second, axis.extent));
  }
  return changed;
}

/// Kernels that may round are reported apart.
void remark_precision(SuiteProblem& read) {
  const auto precision = asked_precision(read.problem.canonical_text());
  if (!precision.empty()) read.remarks.push_back("precision " + precision);
}

}  // namespace

Result<SuiteProblem> read_suite_problem(const SuiteRow& row, const SuiteSettings& settings) {
  ProblemInput input;
  input.problem = row.item.input;
  if (!names_a_program(input.problem)) {
    KW_TRY(auto problem, read_problem(input));
    SuiteProblem read{std::move(problem), problem_words(input)};
    remark_precision(read);
    return read;
  }
  input.mode = settings.mode;
  if (settings.precision != to_string(Precision::strict)) input.precision = settings.precision;
  input.most_steps = settings.most_steps;
  KW_TRY(const auto program, read_program_input(input));
  SuiteProblem read;
  if (settings.mode == to_string(ProgramMode::train) && has_random_dropout(program)) {
    input.mode = to_string(ProgramMode::train_no_dropout);
    read.remarks.emplace_back("dropout taken as the identity");
  }
  KW_TRY(read.problem, read_problem(input));
  read.problem_input = problem_words(input);
  remark_precision(read);
  const auto changed = changed_axes(program, read.problem);
  read.is_smaller = !changed.empty();
  if (read.is_smaller) read.remarks.push_back("made smaller: " + join(changed));
  return read;
}

}  // namespace kw
