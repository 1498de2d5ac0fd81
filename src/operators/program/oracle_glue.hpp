#pragma once
// From a problem's tensors to the oracle of programs and back.

#include <cstddef>
#include <map>

#include "operators/program/oracle/dense_tensor.hpp"
#include "operators/program/oracle/oracle.hpp"
#include "operators/program/program_detail.hpp"
#include "problem/problem.hpp"
#include "problem/values.hpp"
#include "program/graph/graph.hpp"

namespace kw {

/// All that the program's graph is given: the operands, and zeros for what no result follows from.
[[nodiscard]] std::map<std::size_t, DenseTensor> oracle_leaves(const Problem& problem, const Program& program,
                                                               const InputValues& inputs);

/// The same where the operands lie, which have to outlive it.
[[nodiscard]] std::map<std::size_t, LeafElements> given_leaves(const ProgramDetail& detail, const Program& program,
                                                               const InputValues& inputs);

}  // namespace kw
