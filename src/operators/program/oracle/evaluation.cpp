#include "operators/program/oracle/evaluation.hpp"

#include <algorithm>
#include <string>

#include "operators/program/oracle/oracle_errors.hpp"

namespace kw::program_oracle {
namespace {

/// Elements that one task computes, unless there would be too few tasks: an element may be a long sum.
constexpr std::int64_t k_task = 4096;
constexpr std::int64_t k_fewest_tasks = 256;

void fill_whole(const ByElement& answer, std::vector<DenseTensor>& outputs, const ParallelFor& parallel) {
  if (answer.groups != nullptr && !outputs.front().values.empty())
    parallel(answer.groups->groups(), [&](std::int64_t group) { static_cast<void>(answer.groups->of(group)); });
  for (std::size_t output = 0; output < outputs.size(); ++output) {
    auto& tensor = outputs[output];
    in_tasks(static_cast<std::int64_t>(tensor.values.size()), 1, parallel, [&](std::int64_t first, std::int64_t end) {
      for (auto i = first; i < end; ++i)
        tensor.values[static_cast<std::size_t>(i)] = held_as(tensor.dtype, answer.at(output, i));
    });
  }
}

void fill_whole(const BySpan& answer, std::vector<DenseTensor>& outputs, const ParallelFor& parallel) {
  auto& tensor = outputs.front();
  const auto length = static_cast<std::size_t>(answer.length);
  if (tensor.values.empty()) return;
  in_tasks(static_cast<std::int64_t>(tensor.values.size() / length), answer.length, parallel,
           [&](std::int64_t first, std::int64_t end) {
             for (auto row = first; row < end; ++row) {
               const std::span<double> into(tensor.values.data() + static_cast<std::size_t>(row) * length, length);
               answer.fill(row, 0, into);
               for (auto& one : into) one = held_as(tensor.dtype, one);
             }
           });
}

void fill_whole(const ByLine& answer, std::vector<DenseTensor>& outputs, const ParallelFor& parallel) {
  const auto& lines = answer.lines;
  if (lines.length == 0) return;
  in_tasks(lines.count, lines.length, parallel, [&](std::int64_t first, std::int64_t end) {
    std::vector<std::vector<double>> buffers(outputs.size(),
                                             std::vector<double>(static_cast<std::size_t>(lines.length)));
    for (auto line = first; line < end; ++line) {
      answer.fill(line, buffers);
      for (std::size_t output = 0; output < outputs.size(); ++output) {
        auto at = static_cast<std::size_t>(lines.start(line));
        for (const double value : buffers[output]) {
          outputs[output].values[at] = held_as(outputs[output].dtype, value);
          at += static_cast<std::size_t>(lines.stride);
        }
      }
    }
  });
}

}  // namespace

void in_tasks(std::int64_t count, std::int64_t each, const ParallelFor& parallel,
              const std::function<void(std::int64_t, std::int64_t)>& body) {
  const auto steps = std::clamp<std::int64_t>(count / k_fewest_tasks, 1, std::max<std::int64_t>(1, k_task / each));
  parallel((count + steps - 1) / steps,
           [&](std::int64_t task) { body(task * steps, std::min(count, (task + 1) * steps)); });
}

std::vector<std::size_t> operands_of(const Node& node) {
  std::vector<std::size_t> operands;
  for (const auto& argument : node.arguments) {
    if (const auto* one = std::get_if<ValueRef>(&argument.value)) operands.push_back(one->value);
    if (const auto* list = std::get_if<std::vector<ValueRef>>(&argument.value)) {
      for (const auto& one : *list) operands.push_back(one.value);
    }
  }
  return operands;
}

Result<std::vector<bool>> needed_nodes(const Graph& graph, std::span<const std::size_t> wanted,
                                       const std::function<bool(std::size_t)>& is_leaf) {
  std::vector<bool> needed(graph.nodes.size(), false);
  std::vector<std::size_t> open(wanted.begin(), wanted.end());
  while (!open.empty()) {
    const auto value = open.back();
    open.pop_back();
    if (is_leaf(value)) continue;
    const auto node = graph.values[value].node;
    if (!node) return fail(errc::oracle_leaf, "no elements are given for '{}'", graph.values[value].name);
    if (needed[*node]) continue;
    needed[*node] = true;
    for (const auto operand : operands_of(graph.nodes[*node])) open.push_back(operand);
  }
  return needed;
}

Result<Answer> answer_of(const Graph& graph, const Node& node, const OracleCall::OperandOf& operand_of) {
  if (node.random) {
    return fail_at(errc::oracle_random, node.where, fmt::format("{} gives another result each time", node.op),
                   "read the module with --mode eval, or leave the operator out");
  }
  const auto* row = oracle_row_named(node.op);
  if (row == nullptr) {
    return fail_at(errc::oracle_unanswered, node.where, fmt::format("the oracle has no answer for {}", node.op),
                   "use another operator");
  }
  return row->answer(OracleCall(graph, node, operand_of));
}

std::vector<DenseTensor> whole_answer(const Graph& graph, const Node& node, const Answer& answer,
                                      const ParallelFor& parallel) {
  std::vector<DenseTensor> outputs;
  for (const auto value : node.outputs) {
    const auto& type = graph.values[value].type;
    outputs.push_back(
        {type.dtype, values_of(type.shape), std::vector<double>(static_cast<std::size_t>(elements_of(type)), 0.0)});
  }
  std::visit([&](const auto& kind) { fill_whole(kind, outputs, parallel); }, answer);
  return outputs;
}

std::int64_t elements_of(const TensorType& type) {
  return volume_of(values_of(type.shape));
}

}  // namespace kw::program_oracle
