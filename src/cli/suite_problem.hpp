#pragma once
// The file of a suite's row as a problem, read as `optimize` reads it; but dropout in training mode, which no kernel
// can be checked against, is taken as the identity.

#include "base/result.hpp"
#include "suite/suite_loop.hpp"

namespace kw {

/// Errors: as read_problem. What was changed is in the remarks.
[[nodiscard]] Result<SuiteProblem> read_suite_problem(const SuiteRow& row, const SuiteSettings& settings);

}  // namespace kw
