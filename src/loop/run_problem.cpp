#include "loop/run_problem.hpp"

#include <utility>

namespace kw {

Result<Problem> problem_of(const RunRecord& run) {
  const auto named = run.problem_input ? fmt::format("give it as the run was given it: {}", *run.problem_input)
                                       : std::string("give the file that the run was given");
  if (!run.problem_source) {
    return fail(
        Error{errc::run_problem, fmt::format("run {} keeps no text of its problem {}", run.id, run.problem), named});
  }
  auto problem = read_again(*run.problem_source);
  if (!problem) {
    return with_context(std::move(problem).error(), fmt::format("reading the problem of run {} again", run.id));
  }
  if (problem->canonical_text() != run.problem_text) {
    return fail(Error{errc::run_problem,
                      fmt::format("this version does not read the problem {} of run {} as version {} did", run.problem,
                                  run.id, run.version),
                      "use the version that made the run"});
  }
  return problem;
}

}  // namespace kw
