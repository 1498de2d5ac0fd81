#pragma once
// The problem of an archived run, read again from what the run keeps of it: to show it, to send it to another machine,
// or to learn from its attempts.

#include "base/result.hpp"
#include "problem/problem.hpp"
#include "record/run_record.hpp"

namespace kw {

namespace errc {
/// The run keeps no problem (an archive before version 3), or this version reads it differently.
inline constexpr ErrorCode run_problem{"run.problem"};
}  // namespace errc

/// With the id() that the run's problem had. Errors: errc::run_problem, and those of read_again (problem/source.hpp).
[[nodiscard]] Result<Problem> problem_of(const RunRecord& run);

}  // namespace kw
