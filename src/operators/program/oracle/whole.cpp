// A graph node by node, every tensor whole.

#include <algorithm>
#include <optional>
#include <utility>

#include "operators/program/oracle/evaluation.hpp"
#include "operators/program/oracle/oracle.hpp"

namespace kw {
namespace {

using program_oracle::Operand;

class WholeEvaluation {
 public:
  WholeEvaluation(const Graph& graph, const std::map<std::size_t, DenseTensor>& leaves)
      : graph_(graph), leaves_(leaves), made_(graph.values.size()), readers_(graph.values.size(), 0) {}

  Result<std::vector<DenseTensor>> run(std::span<const std::size_t> wanted, const ParallelFor& parallel) {
    KW_TRY_VOID(check_leaves());
    KW_TRY(const auto needed, program_oracle::needed_nodes(graph_, wanted, [&](std::size_t value) {
             return leaves_.find(value) != leaves_.end();
           }));
    for (const auto value : wanted) ++readers_[value];
    for (std::size_t i = 0; i < needed.size(); ++i) {
      if (!needed[i]) continue;
      for (const auto operand : program_oracle::operands_of(graph_.nodes[i])) ++readers_[operand];
    }
    for (std::size_t i = 0; i < needed.size(); ++i) {
      if (needed[i]) KW_TRY_VOID(compute(graph_.nodes[i], parallel));
    }
    std::vector<DenseTensor> answers;
    for (const auto value : wanted) answers.push_back(taken(value));
    return answers;
  }

 private:
  Result<void> check_leaves() const {
    for (const auto& [value, leaf] : leaves_) {
      const auto& declared = graph_.values[value];
      if (static_cast<std::int64_t>(leaf.values.size()) == program_oracle::elements_of(declared.type)) continue;
      return fail(errc::oracle_leaf, "'{}' has {} elements instead of {}", declared.name, leaf.values.size(),
                  program_oracle::elements_of(declared.type));
    }
    return {};
  }

  [[nodiscard]] const DenseTensor& tensor(std::size_t value) const {
    const auto leaf = leaves_.find(value);
    return leaf != leaves_.end() ? leaf->second : *made_[value];
  }

  /// For the last of those who want it.
  [[nodiscard]] DenseTensor taken(std::size_t value) {
    if (leaves_.contains(value) || --readers_[value] > 0) return tensor(value);
    return *std::move(made_[value]);
  }

  Result<void> compute(const Node& node, const ParallelFor& parallel) {
    const program_oracle::OracleCall::OperandOf operand_of = [&](std::size_t value) {
      const auto& type = graph_.values[value].type;
      return Operand(type.dtype, values_of(type.shape), tensor(value).values.data());
    };
    {
      KW_TRY(const auto answer, program_oracle::answer_of(graph_, node, operand_of));
      auto outputs = program_oracle::whole_answer(graph_, node, answer, parallel);
      for (std::size_t i = 0; i < outputs.size(); ++i) {
        if (readers_[node.outputs[i]] > 0) made_[node.outputs[i]] = std::move(outputs[i]);
      }
    }
    for (const auto operand : program_oracle::operands_of(node)) {
      if (--readers_[operand] == 0) made_[operand].reset();
    }
    return {};
  }

  const Graph& graph_;
  const std::map<std::size_t, DenseTensor>& leaves_;
  std::vector<std::optional<DenseTensor>> made_;  ///< by value, while somebody still reads it
  std::vector<std::size_t> readers_;
};

}  // namespace

Result<std::vector<DenseTensor>> evaluate_graph(const Graph& graph, const std::map<std::size_t, DenseTensor>& leaves,
                                                std::span<const std::size_t> wanted, const ParallelFor& parallel) {
  return WholeEvaluation(graph, leaves).run(wanted, parallel);
}

}  // namespace kw
