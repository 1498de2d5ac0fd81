#pragma once
// From a problem's tensors to the oracle of programs and back.

#include <cstddef>
#include <map>

#include "operators/program/oracle/dense_tensor.hpp"
#include "problem/problem.hpp"
#include "problem/values.hpp"
#include "program/graph/graph.hpp"

namespace kw {

/// All that the program's graph is given: the operands, and zeros for what no result follows from.
[[nodiscard]] std::map<std::size_t, DenseTensor> oracle_leaves(const Problem& problem, const Program& program,
                                                               const InputValues& inputs);

}  // namespace kw
