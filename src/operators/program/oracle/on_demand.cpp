// Elements of a graph with their cone of inputs: each node's answer reads its operands through a memo, which asks the
// operand's own node for what it does not know yet.

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "operators/program/oracle/element_memo.hpp"
#include "operators/program/oracle/evaluation.hpp"
#include "operators/program/oracle/oracle.hpp"

namespace kw {
namespace {

using program_oracle::Answer;
using program_oracle::ElementMemo;
using program_oracle::Operand;

/// Nodes that ask each other in a row; each takes a few hundred bytes of a thread's stack. What lies deeper is
/// evaluated whole.
constexpr std::size_t k_deepest = 256;
/// Where more than one in so many of the elements on the way are needed, all are computed. Asking for one takes some
/// six times as long as computing it among others, and 16 threads that share a cone all compute it.
constexpr std::int64_t k_whole_beyond = 32;
/// The terms of a long sum take as long either way. Threads may share such an element all the same, and one thread
/// finds out what is faster by computing what is wanted.
constexpr double k_times_summed = 16;
/// Elements on the way that are worth the memory, 8 bytes each, and those that are worth a thought.
constexpr std::int64_t k_most_whole = std::int64_t{1} << 27;
constexpr std::int64_t k_least_whole = std::int64_t{1} << 16;
/// Elements that are computed together. What is asked for ends somewhere, and the rest of a span is computed in vain.
constexpr std::size_t k_longest_span = 32;

class DemandEvaluation {
 public:
  DemandEvaluation(const Graph& graph, const std::map<std::size_t, LeafElements>& leaves, OnTheWay on_the_way)
      : graph_(graph),
        leaves_(leaves),
        on_the_way_(on_the_way),
        memos_(graph.values.size()),
        whole_(graph.values.size()),
        answers_(graph.nodes.size()),
        depth_(graph.values.size(), 0),
        read_(graph.values.size(), false),
        asked_(graph.values.size(), 0) {}

  Result<void> prepare(std::span<const WantedElements> wanted, const ParallelFor& parallel) {
    std::vector<std::size_t> values;
    for (const auto& one : wanted) values.push_back(one.value);
    KW_TRY(const auto needed, program_oracle::needed_nodes(graph_, values, [&](std::size_t value) {
             return leaves_.find(value) != leaves_.end();
           }));
    for (const auto& one : wanted) asked_[one.value] += static_cast<std::int64_t>(one.elements.size());
    for (std::size_t i = 0; i < needed.size(); ++i) {
      if (!needed[i]) continue;
      for (const auto operand : program_oracle::operands_of(graph_.nodes[i])) read_[operand] = true;
    }
    for (std::size_t i = 0; i < needed.size(); ++i) {
      if (needed[i]) KW_TRY_VOID(prepare(i, parallel));
    }
    return {};
  }

  /// Of the tensors that were prepared.
  [[nodiscard]] std::int64_t elements_on_the_way() const {
    std::int64_t all = 0;
    for_each_on_the_way([&](std::size_t value) { all += program_oracle::elements_of(graph_.values[value].type); });
    return all;
  }
  /// What it takes to compute them all, in steps.
  [[nodiscard]] double steps_on_the_way(const NodeSteps& steps_of) const {
    double all = 0;
    for_each_on_the_way([&](std::size_t value) {
      all += static_cast<double>(program_oracle::elements_of(graph_.values[value].type)) *
             steps_of_element(value, steps_of);
    });
    return all;
  }

  /// Whether asking for the wanted elements takes more than `most` steps. On one thread; nothing may be asked for
  /// later.
  [[nodiscard]] bool takes_more_than(double most, std::span<const WantedElements> wanted, const NodeSteps& steps_of) {
    asking_.assign(graph_.values.size(), 0);
    for_each_on_the_way([&](std::size_t value) {
      asking_[value] = k_whole_beyond + k_times_summed * (steps_of_element(value, steps_of) - 1);
    });
    left_ = most;
    for (const auto& one : wanted) {
      for (const auto i : one.elements) static_cast<void>(element(one.value, i));
    }
    return *left_ < 0;
  }

  [[nodiscard]] double element(std::size_t value, std::int64_t i) {
    if (left_ && *left_ < 0) return 0.0;
    const auto leaf = leaves_.find(value);
    if (leaf != leaves_.end()) return leaf->second(i);
    if (whole_[value]) return whole_[value]->values[static_cast<std::size_t>(i)];
    if (const auto known = memos_[value]->find(i)) return *known;
    const auto& node = graph_.nodes[*graph_.values[value].node];
    const auto& answer = *answers_[*graph_.values[value].node];
    const auto output =
        static_cast<std::size_t>(std::find(node.outputs.begin(), node.outputs.end(), value) - node.outputs.begin());
    return std::visit([&](const auto& kind) { return compute(kind, node, output, i); }, answer);
  }

 private:
  template <typename Use>
  void for_each_on_the_way(const Use& use) const {
    for (std::size_t value = 0; value < memos_.size(); ++value) {
      if (memos_[value] != nullptr) use(value);
    }
  }

  /// 1 at least.
  [[nodiscard]] double steps_of_element(std::size_t value, const NodeSteps& steps_of) const {
    const auto all = static_cast<double>(program_oracle::elements_of(graph_.values[value].type));
    return std::max(1.0, steps_of(graph_.nodes[*graph_.values[value].node]) / std::max(all, 1.0));
  }

  Result<void> prepare(std::size_t index, const ParallelFor& parallel) {
    const auto& node = graph_.nodes[index];
    std::size_t depth = 0;
    for (const auto operand : program_oracle::operands_of(node)) depth = std::max(depth, depth_[operand] + 1);
    const program_oracle::OracleCall::OperandOf operand_of = [&](std::size_t value) { return operand(value); };
    KW_TRY(answers_[index], program_oracle::answer_of(graph_, node, operand_of));
    if (depth >= k_deepest || (on_the_way_ == OnTheWay::tensors && takes_all_of(node))) {
      auto outputs = program_oracle::whole_answer(graph_, node, *answers_[index], parallel);
      for (std::size_t i = 0; i < outputs.size(); ++i) whole_[node.outputs[i]] = std::move(outputs[i]);
      answers_[index].reset();
      return {};
    }
    for (const auto value : node.outputs) {
      depth_[value] = depth;
      memos_[value] = std::make_unique<ElementMemo>(program_oracle::elements_of(graph_.values[value].type));
    }
    return {};
  }

  /// Of what no other node reads, only what is wanted is computed, where that is little: rows of a product.
  [[nodiscard]] bool takes_all_of(const Node& node) const {
    return std::any_of(node.outputs.begin(), node.outputs.end(), [&](std::size_t value) {
      return read_[value] || k_whole_beyond * asked_[value] > program_oracle::elements_of(graph_.values[value].type);
    });
  }

  [[nodiscard]] Operand operand(std::size_t value) {
    const auto& type = graph_.values[value].type;
    auto extents = values_of(type.shape);
    if (whole_[value]) return {type.dtype, std::move(extents), whole_[value]->values.data()};
    const auto leaf = leaves_.find(value);
    if (leaf != leaves_.end()) {
      if (leaf->second.floats() != nullptr) return {type.dtype, std::move(extents), leaf->second.floats()};
      return {type.dtype, std::move(extents), leaf->second.source()};
    }
    return {type.dtype, std::move(extents), [this, value](std::int64_t i) { return element(value, i); }};
  }

  double keep(std::size_t value, std::int64_t i, double computed) {
    const double held = held_as(graph_.values[value].type.dtype, computed);
    memos_[value]->keep(i, held);
    if (left_) *left_ -= asking_[value];
    return held;
  }

  double compute(const program_oracle::ByElement& answer, const Node& node, std::size_t output, std::int64_t i) {
    return keep(node.outputs[output], i, answer.at(output, i));
  }

  /// Who asked for the two elements before this one in its row will ask for the next ones: a span of them reads the
  /// operands line by line, where elements one by one would read columns.
  double compute(const program_oracle::BySpan& answer, const Node& node, std::size_t output, std::int64_t i) {
    const std::size_t value = node.outputs[output];
    const std::int64_t first = i % answer.length;
    const bool in_order = first >= 2 && memos_[value]->find(i - 1) && memos_[value]->find(i - 2);
    std::array<double, k_longest_span> sums{};
    const std::int64_t count = in_order ? std::min<std::int64_t>(k_longest_span, answer.length - first) : 1;
    answer.fill(i / answer.length, first, std::span(sums).first(static_cast<std::size_t>(count)));
    for (std::int64_t k = 1; k < count; ++k) keep(value, i + k, sums[static_cast<std::size_t>(k)]);
    return keep(value, i, sums.front());
  }

  /// Keeps the whole line of all outputs.
  double compute(const program_oracle::ByLine& answer, const Node& node, std::size_t output, std::int64_t i) {
    const auto& lines = answer.lines;
    std::vector<std::vector<double>> buffers(node.outputs.size(),
                                             std::vector<double>(static_cast<std::size_t>(lines.length)));
    answer.fill(lines.line_of(i), buffers);
    const auto start = lines.start(lines.line_of(i));
    double found = 0.0;
    for (std::size_t k = 0; k < buffers.size(); ++k) {
      for (std::int64_t at = 0; at < lines.length; ++at) {
        const double held = keep(node.outputs[k], start + at * lines.stride, buffers[k][static_cast<std::size_t>(at)]);
        if (k == output && start + at * lines.stride == i) found = held;
      }
    }
    return found;
  }

  const Graph& graph_;
  const std::map<std::size_t, LeafElements>& leaves_;
  OnTheWay on_the_way_;
  std::optional<double> left_;                       ///< steps that may still be taken, where they are counted
  std::vector<double> asking_;                       ///< by value, then: steps for one element
  std::vector<std::unique_ptr<ElementMemo>> memos_;  ///< by value
  std::vector<std::optional<DenseTensor>> whole_;    ///< by value
  std::vector<std::optional<Answer>> answers_;       ///< by node
  std::vector<std::size_t> depth_;                   ///< by value
  std::vector<bool> read_;                           ///< by value: whether a needed node has it as an operand
  std::vector<std::int64_t> asked_;                  ///< by value: of how many elements somebody wants to know
};

}  // namespace

Result<std::vector<std::vector<double>>> evaluate_elements(const Graph& graph,
                                                           const std::map<std::size_t, LeafElements>& leaves,
                                                           std::span<const WantedElements> wanted,
                                                           const ParallelFor& parallel, OnTheWay on_the_way) {
  DemandEvaluation evaluation(graph, leaves, on_the_way);
  KW_TRY_VOID(evaluation.prepare(wanted, parallel));
  std::vector<std::vector<double>> answers;
  for (const auto& one : wanted) {
    auto& values = answers.emplace_back(one.elements.size());
    program_oracle::in_tasks(static_cast<std::int64_t>(values.size()), 1, parallel,
                             [&](std::int64_t first, std::int64_t end) {
                               for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(end); ++i)
                                 values[i] = evaluation.element(one.value, one.elements[i]);
                             });
  }
  return answers;
}

Result<OnTheWay> faster_on_the_way(const Graph& graph, const std::map<std::size_t, LeafElements>& leaves,
                                   std::span<const WantedElements> wanted, const NodeSteps& steps_of) {
  DemandEvaluation evaluation(graph, leaves, OnTheWay::elements);
  KW_TRY_VOID(evaluation.prepare(wanted, serial_for));
  const std::int64_t all = evaluation.elements_on_the_way();
  if (all < k_least_whole || all > k_most_whole) return OnTheWay::elements;
  return evaluation.takes_more_than(evaluation.steps_on_the_way(steps_of), wanted, steps_of) ? OnTheWay::tensors
                                                                                             : OnTheWay::elements;
}

}  // namespace kw
