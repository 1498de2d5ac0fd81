#pragma once
// What the operator `program` keeps of a problem: the tensor program as it was read for the primary workload, and which
// values of its graph the problem's tensors are.

#include <cstddef>
#include <vector>

#include "problem/problem.hpp"
#include "program/graph/graph.hpp"

namespace kw {

struct ProgramDetail final : OperatorDetail {
  Program program;
  std::vector<std::size_t> inputs;   ///< of Problem::inputs, in their order: the value in program.graph
  std::vector<std::size_t> outputs;  ///< of Problem::outputs, in their order: the value in program.graph
};

/// Of a problem of operator "program".
[[nodiscard]] const ProgramDetail& program_detail(const Problem& problem);

}  // namespace kw
