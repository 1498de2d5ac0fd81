#include "operators/program/oracle_glue.hpp"

#include <algorithm>
#include <cmath>
#include <map>
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

namespace {

std::shared_ptr<const Program> checked_program(const Problem& problem, const Axes& axes) {
  auto program = program_at(problem, axes);
  KW_CHECK(program.has_value(), "axes were never checked: {}", program.error().to_string());
  return *std::move(program);
}

/// Row `row` of `rows`, of an output that has another number of rows.
std::int64_t row_of_output(std::int64_t row, std::int64_t rows, std::int64_t output_rows) {
  __extension__ using Wide = __int128;
  return static_cast<std::int64_t>(static_cast<Wide>(row) * output_rows / rows);
}

std::int64_t rows_of(const TensorSpec& tensor, const Axes& axes) {
  const auto elements = element_count(tensor, axes);
  KW_CHECK(elements.has_value(), "{} was never checked", tensor.name);
  return *elements / row_length_of(tensor, axes);
}

/// A row is one of the output that has most of them; of the others the one at the same share of their rows.
std::int64_t answer_rows_of(const Problem& problem, const Axes& axes) {
  std::int64_t rows = 1;
  for (const auto& output : problem.outputs) rows = std::max(rows, rows_of(output, axes));
  return rows;
}

/// Found out with the first rows that are asked for.
OnTheWay way_to(const ProgramDetail& detail, const Axes& axes, const Program& program,
                const std::map<std::size_t, LeafElements>& leaves, std::span<const WantedElements> wanted) {
  if (const auto known = detail.readings->takes_tensors(axes)) {
    return *known ? OnTheWay::tensors : OnTheWay::elements;
  }
  const auto faster =
      faster_on_the_way(program.graph, leaves, wanted, [&](const Node& node) { return steps_of(program.graph, node); });
  KW_CHECK(faster.has_value(), "{}", faster.error().to_string());
  detail.readings->keep_takes_tensors(axes, *faster == OnTheWay::tensors);
  return *faster;
}

std::vector<AnswerSample> sample_of_rows(const Problem& problem, const Axes& axes, const InputValues& inputs,
                                         std::span<const std::int64_t> rows, const ParallelFor& parallel) {
  const ProgramDetail& detail = program_detail(problem);
  const std::int64_t all = answer_rows_of(problem, axes);
  std::vector<WantedElements> wanted;
  for (std::size_t i = 0; i < problem.outputs.size(); ++i) {
    const std::int64_t length = row_length_of(problem.outputs[i], axes);
    const std::int64_t own = rows_of(problem.outputs[i], axes);
    WantedElements& one = wanted.emplace_back(WantedElements{detail.outputs[i], {}});
    std::int64_t last = -1;
    for (const std::int64_t row : rows) {
      const std::int64_t mine = row_of_output(row, all, own);
      if (mine == last) continue;
      last = mine;
      for (std::int64_t column = 0; column < length; ++column) one.elements.push_back(mine * length + column);
    }
  }
  std::map<std::size_t, LeafElements> leaves;
  for (std::size_t i = 0; i < detail.inputs.size(); ++i) {
    leaves.insert_or_assign(detail.inputs[i], LeafElements(inputs[i]));
  }
  const auto checked = checked_program(problem, axes);
  const Program& program = *checked;
  for (std::size_t i = 0; i < program.graph.values.size(); ++i) {
    if (!program.graph.values[i].node) leaves.try_emplace(i, [](std::int64_t) { return 0.0; });
  }
  auto answers =
      evaluate_elements(program.graph, leaves, wanted, parallel, way_to(detail, axes, program, leaves, wanted));
  KW_CHECK(answers.has_value(), "{}", answers.error().to_string());
  std::vector<AnswerSample> samples;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    samples.push_back({std::move(wanted[i].elements), std::move((*answers)[i])});
  }
  return samples;
}

}  // namespace

OracleSampling program_sampling() {
  return {.rows = answer_rows_of,
          .slices = [](const Problem&, const Axes&) { return std::int64_t{1}; },
          .answer = sample_of_rows,
          .reads = [](const Problem&, const Axes&,
                      std::span<const std::int64_t>) { return std::optional<OperandReads>(); }};
}

OutputValues program_answer(const Problem& problem, const Axes& axes, const InputValues& inputs,
                            const ParallelFor& parallel) {
  const auto checked = checked_program(problem, axes);
  const Program& program = *checked;
  auto answers =
      evaluate_graph(program.graph, oracle_leaves(problem, program, inputs), program_detail(problem).outputs, parallel);
  KW_CHECK(answers.has_value(), "{}", answers.error().to_string());
  OutputValues outputs;
  for (auto& tensor : *answers) outputs.push_back(std::move(tensor.values));
  return outputs;
}

}  // namespace kw
