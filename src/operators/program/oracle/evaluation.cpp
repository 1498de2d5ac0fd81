#include "operators/program/oracle/evaluation.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "operators/program/oracle/oracle_errors.hpp"

namespace kw::program_oracle {
namespace {

/// Elements of a row that are computed together.
constexpr std::int64_t k_longest_part = 128;

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

/// The same part of some rows.
void fill_block(const BySpan& answer, std::span<const std::int64_t> rows, std::int64_t first, std::int64_t length,
                const KeepRow& keep) {
  const auto count = static_cast<std::size_t>(length);
  std::vector<double> values(rows.size() * count, 0.0);
  std::vector<std::span<double>> into;
  for (std::size_t i = 0; i < rows.size(); ++i) into.push_back(std::span(values).subspan(i * count, count));
  answer.fill(rows, first, into);
  for (std::size_t i = 0; i < rows.size(); ++i) keep(rows[i], first, into[i]);
}

void fill_whole(const BySpan& answer, std::vector<DenseTensor>& outputs, const ParallelFor& parallel) {
  auto& tensor = outputs.front();
  if (tensor.values.empty()) return;
  const KeepRow keep = [&](std::int64_t row, std::int64_t first, std::span<const double> values) {
    auto at = static_cast<std::size_t>(row * answer.length + first);
    for (const double value : values) tensor.values[at++] = held_as(tensor.dtype, value);
  };
  const std::int64_t count = static_cast<std::int64_t>(tensor.values.size()) / answer.length;
  const auto together = static_cast<std::int64_t>(answer.together);
  const std::int64_t parts = (answer.length + k_longest_part - 1) / k_longest_part;
  const std::int64_t blocks = (count + together - 1) / together * parts;
  const auto fill = [&](std::int64_t block) {
    std::vector<std::int64_t> rows;
    for (auto row = block / parts * together; row < count && std::ssize(rows) < together; ++row) rows.push_back(row);
    const std::int64_t first = block % parts * k_longest_part;
    fill_block(answer, rows, first, std::min(k_longest_part, answer.length - first), keep);
  };
  in_tasks(blocks, together * std::min(k_longest_part, answer.length), parallel,
           [&](std::int64_t begin, std::int64_t end) {
             for (auto block = begin; block < end; ++block) fill(block);
           });
}

void store_line(const Lines& lines, std::int64_t line, const std::vector<std::vector<double>>& computed,
                std::span<const FlatOutput> outputs) {
  for (std::size_t output = 0; output < outputs.size(); ++output) {
    std::int64_t at = lines.start(line);
    for (const double value : computed[output]) {
      outputs[output].values[at] = held_as(outputs[output].dtype, value);
      at += lines.stride;
    }
  }
}

void fill_whole(const ByLine& answer, std::vector<DenseTensor>& outputs, const ParallelFor& parallel) {
  const auto& lines = answer.lines;
  if (lines.length == 0) return;
  std::vector<FlatOutput> flat;
  for (auto& tensor : outputs) flat.push_back({tensor.dtype, tensor.values.data()});
  in_tasks(lines.count, lines.length, parallel, [&](std::int64_t first, std::int64_t end) {
    std::vector<std::vector<double>> buffers(outputs.size(),
                                             std::vector<double>(static_cast<std::size_t>(lines.length)));
    for (auto line = first; line < end; ++line) {
      answer.fill(line, buffers);
      store_line(lines, line, buffers, flat);
    }
  });
}

/// Elements that one task computes, where they are few: each may be a long sum.
constexpr std::int64_t k_scattered_task = 512;

void fill_some(const ByElement& answer, std::span<const Ranges> needed, std::span<const FlatOutput> outputs,
               const ParallelFor& parallel) {
  for (std::size_t output = 0; output < outputs.size(); ++output) {
    const std::int64_t all = count_of(needed[output]);
    const Ranges parts = cut(needed[output], std::clamp<std::int64_t>(all / k_fewest_tasks, 1, k_scattered_task));
    const FlatOutput& to = outputs[output];
    in_scattered_tasks(std::ssize(parts), parallel, [&](std::int64_t part) {
      const auto [begin, end] = parts[static_cast<std::size_t>(part)];
      for (auto i = begin; i < end; ++i) to.values[i] = held_as(to.dtype, answer.at(output, i));
    });
  }
}

void fill_some(const BySpan& answer, std::span<const Ranges> needed, std::span<const FlatOutput> outputs,
               const ParallelFor& parallel) {
  const FlatOutput& all = outputs.front();
  fill_parts(answer, parts_of_rows(needed.front(), answer.length), parallel,
             [&](std::int64_t row, std::int64_t first, std::span<const double> computed) {
               double* to = all.values + row * answer.length + first;
               for (const double value : computed) *to++ = held_as(all.dtype, value);
             });
}

void fill_some(const ByLine& answer, std::span<const Ranges> needed, std::span<const FlatOutput> outputs,
               const ParallelFor& parallel) {
  const auto& lines = answer.lines;
  Ranges elements;
  for (const auto& ranges : needed) elements.insert(elements.end(), ranges.begin(), ranges.end());
  const Ranges some = cut(lines_of(lines, joined(std::move(elements))), 1);
  parallel(std::ssize(some), [&](std::int64_t i) {
    const std::int64_t line = some[static_cast<std::size_t>(i)].begin;
    std::vector<std::vector<double>> buffers(outputs.size(),
                                             std::vector<double>(static_cast<std::size_t>(lines.length)));
    answer.fill(line, buffers);
    store_line(lines, line, buffers, outputs);
  });
}

}  // namespace

void in_scattered_tasks(std::int64_t count, const ParallelFor& parallel,
                        const std::function<void(std::int64_t)>& body) {
  constexpr std::int64_t k_longest = 4096;
  const std::int64_t length = std::clamp<std::int64_t>(count / k_fewest_tasks, 1, k_longest);
  const std::int64_t tasks = (count + length - 1) / length;
  std::int64_t step = std::max<std::int64_t>(1, tasks * 5 / 8);
  while (std::gcd(step, tasks) != 1) ++step;
  parallel(tasks, [&](std::int64_t task) {
    const std::int64_t first = task * step % tasks * length;
    for (auto i = first; i < std::min(count, first + length); ++i) body(i);
  });
}

Ranges lines_of(const Lines& lines, const Ranges& elements) {
  ElementSet some(lines.count);
  for (const auto& range : elements) {
    for (auto i = range.begin; i < range.end; ++i) some.add(lines.line_of(i));
  }
  return some.ranges();
}

void fill_elements(const Answer& answer, std::span<const Ranges> needed, std::span<const FlatOutput> outputs,
                   const ParallelFor& parallel) {
  std::visit([&](const auto& kind) { fill_some(kind, needed, outputs, parallel); }, answer);
}

void in_tasks(std::int64_t count, std::int64_t each, const ParallelFor& parallel,
              const std::function<void(std::int64_t, std::int64_t)>& body) {
  const auto steps = std::clamp<std::int64_t>(count / k_fewest_tasks, 1, std::max<std::int64_t>(1, k_task / each));
  parallel((count + steps - 1) / steps,
           [&](std::int64_t task) { body(task * steps, std::min(count, (task + 1) * steps)); });
}

void fill_parts(const BySpan& answer, std::span<const RowPart> parts, const ParallelFor& parallel,
                const KeepRow& keep) {
  struct Block {
    std::vector<std::int64_t> rows;
    std::int64_t first = 0;
    std::int64_t count = 0;
  };
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < parts.size();) {
    std::vector<std::int64_t> rows;
    const RowPart& like = parts[i];
    while (i < parts.size() && rows.size() < answer.together && parts[i].first == like.first &&
           parts[i].count == like.count) {
      rows.push_back(parts[i++].row);
    }
    for (std::int64_t at = 0; at < like.count; at += k_longest_part) {
      blocks.push_back({rows, like.first + at, std::min(k_longest_part, like.count - at)});
    }
  }
  parallel(std::ssize(blocks), [&](std::int64_t i) {
    const Block& block = blocks[static_cast<std::size_t>(i)];
    fill_block(answer, block.rows, block.first, block.count, keep);
  });
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

OracleCall::OperandOf zero_operands(const Graph& graph) {
  return [&graph](std::size_t value) {
    const auto& type = graph.values[value].type;
    return Operand(type.dtype, values_of(type.shape), [](std::int64_t) { return 0.0; });
  };
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
