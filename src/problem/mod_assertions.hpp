#pragma once
// What mods assert of the axes, held against every workload.

#include <string>

#include "base/result.hpp"
#include "problem/problem.hpp"

namespace kw {

/// errc::problem_value for an assertion that a workload breaks; without a place, but with the assert's line in `file`
/// where the mods that have not been checked before come from one.
[[nodiscard]] Result<void> check_assertions(const Problem& problem, const std::string& file = "");

}  // namespace kw
