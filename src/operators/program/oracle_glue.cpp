#include "operators/program/oracle_glue.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <span>

#include "operators/program/oracle/oracle.hpp"
#include "operators/program/parts.hpp"
#include "operators/program/program_detail.hpp"
#include "operators/program/steps.hpp"

namespace kw {

std::map<std::size_t, DenseTensor> oracle_leaves(const Problem& problem, const Program& program,
                                                 const InputValues& inputs) {
  const ProgramDetail& detail = program_detail(problem);
  std::map<std::size_t, DenseTensor> leaves;
  for (std::size_t i = 0; i < detail.inputs.size(); ++i) {
    const TensorType& type = program.graph.values[detail.inputs[i]].type;
    leaves.emplace(detail.inputs[i],
                   DenseTensor{type.dtype, values_of(type.shape), {inputs[i].begin(), inputs[i].end()}});
  }
  // What no result follows from is no input of the problem, and the graph names it all the same.
  for (std::size_t i = 0; i < program.graph.values.size(); ++i) {
    if (program.graph.values[i].node || leaves.count(i) > 0) continue;
    const TensorType& type = program.graph.values[i].type;
    leaves.emplace(i, DenseTensor{type.dtype, values_of(type.shape),
                                  std::vector<double>(static_cast<std::size_t>(elements_of(type)), 0.0)});
  }
  return leaves;
}

std::map<std::size_t, LeafElements> given_leaves(const ProgramDetail& detail, const Program& program,
                                                 const InputValues& inputs) {
  std::map<std::size_t, LeafElements> leaves;
  for (std::size_t i = 0; i < detail.inputs.size(); ++i) {
    leaves.insert_or_assign(detail.inputs[i], LeafElements(inputs[i]));
  }
  for (std::size_t i = 0; i < program.graph.values.size(); ++i) {
    if (!program.graph.values[i].node) leaves.try_emplace(i, [](std::int64_t) { return 0.0; });
  }
  return leaves;
}

OutputValues program_answer(const Problem& problem, const Axes& axes, const InputValues& inputs,
                            const ParallelFor& parallel) {
  const ProgramDetail& detail = program_detail(problem);
  const auto program = checked_program(problem, axes);
  std::vector<WantedElements> wanted;
  for (std::size_t i = 0; i < problem.outputs.size(); ++i) {
    WantedElements& one = wanted.emplace_back(WantedElements{detail.outputs[i], {}});
    one.elements.resize(static_cast<std::size_t>(element_count(problem.outputs[i], axes).value()));
    std::iota(one.elements.begin(), one.elements.end(), 0);
  }
  auto answers =
      evaluate_elements(program->graph, given_leaves(detail, *program, inputs), wanted, parallel, OnTheWay::tensors);
  KW_CHECK(answers.has_value(), "{}", answers.error().to_string());
  return *std::move(answers);
}

}  // namespace kw
