#pragma once
// Problems of tensor programs for tests of kernels, made straight from a program.

#include "problem/problem.hpp"
#include "program/graph/graph.hpp"

namespace kw::program_test {

/// Inputs are the tensors that forward() takes, then the parameters that it reads, with '_' for '.' in their names;
/// outputs are "out", or "out0" and so on. The primary workload has the axes as they were read.
[[nodiscard]] Problem problem_of(const Program& program);

}  // namespace kw::program_test
