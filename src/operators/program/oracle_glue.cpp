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

/// The elements of these rows in each output.
std::vector<WantedElements> wanted_in(const Problem& problem, const Axes& axes, std::span<const std::int64_t> rows) {
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
  return wanted;
}

/// All that the program's graph is given, where the operands lie; zeros for what no result follows from.
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

TwoRows two_rows(const Problem& problem, const Axes& axes, std::int64_t first, std::int64_t other) {
  return {wanted_in(problem, axes, std::span(&first, 1)), wanted_in(problem, axes, std::span(&other, 1))};
}

/// Found out with the first rows that are asked for.
OnTheWay way_to(const Problem& problem, const Axes& axes, const Program& program,
                const std::map<std::size_t, LeafElements>& leaves, std::span<const std::int64_t> rows) {
  ProgramReadings& readings = *program_detail(problem).readings;
  if (const auto known = readings.takes_tensors(axes)) return *known ? OnTheWay::tensors : OnTheWay::elements;
  const auto two = two_rows(problem, axes, rows[rows.size() / 3], rows[rows.size() * 2 / 3]);
  const auto faster = faster_on_the_way(program.graph, leaves, two, std::ssize(rows),
                                        [&](const Node& node) { return steps_of(program.graph, node); });
  KW_CHECK(faster.has_value(), "{}", faster.error().to_string());
  readings.keep_takes_tensors(axes, *faster == OnTheWay::tensors);
  return *faster;
}

std::vector<AnswerSample> sample_of_rows(const Problem& problem, const Axes& axes, const InputValues& inputs,
                                         std::span<const std::int64_t> rows, const ParallelFor& parallel) {
  const ProgramDetail& detail = program_detail(problem);
  const auto program = checked_program(problem, axes);
  const auto leaves = given_leaves(detail, *program, inputs);
  auto wanted = wanted_in(problem, axes, rows);
  auto answers =
      evaluate_elements(program->graph, leaves, wanted, parallel, way_to(problem, axes, *program, leaves, rows));
  KW_CHECK(answers.has_value(), "{}", answers.error().to_string());
  std::vector<AnswerSample> samples;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    samples.push_back({std::move(wanted[i].elements), std::move((*answers)[i])});
  }
  return samples;
}

/// A row in the middle, after another one has been answered: what all rows follow from is paid for once.
double elements_of_row(const Problem& problem, const Axes& axes) {
  const ProgramDetail& detail = program_detail(problem);
  if (const auto known = detail.readings->elements_of_row(axes)) return *known;
  // More than a row of which no more than the fewest can be answered.
  constexpr double k_most = 65536;
  const std::int64_t rows = answer_rows_of(problem, axes);
  const auto elements =
      elements_asked_for(checked_program(problem, axes)->graph, two_rows(problem, axes, rows / 5, rows / 2), k_most);
  KW_CHECK(elements.has_value(), "{}", elements.error().to_string());
  detail.readings->keep_elements_of_row(axes, *elements);
  return *elements;
}

AnswerWork apart(const Problem& problem, const Axes& axes, const AnswerWork& whole) {
  // As few rows are always answered.
  constexpr std::int64_t k_few = 32;
  const std::int64_t rows = answer_rows_of(problem, axes);
  if (rows <= k_few) return whole;
  return {whole.flops, std::max(whole.elements, static_cast<double>(rows) * elements_of_row(problem, axes))};
}

}  // namespace

OracleSampling program_sampling() {
  return {.rows = answer_rows_of,
          .slices = [](const Problem&, const Axes&) { return std::int64_t{1}; },
          .apart = apart,
          .answer = sample_of_rows,
          .reads = [](const Problem&, const Axes&,
                      std::span<const std::int64_t>) { return std::optional<OperandReads>(); }};
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
