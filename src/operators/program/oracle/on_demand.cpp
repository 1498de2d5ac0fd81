// Elements of a graph on demand, and what asking for them takes.

#include <algorithm>
#include <optional>
#include <utility>

#include "operators/program/oracle/demand_evaluation.hpp"
#include "operators/program/oracle/needed_elements.hpp"
#include "operators/program/oracle/oracle.hpp"

namespace kw {
namespace {

using program_oracle::AskingCosts;
using program_oracle::Counting;
using program_oracle::DemandEvaluation;

/// What one thread computes while others wait for it, or compute the same, takes as long as all of it on 16 threads.
constexpr double k_threads = 16;
/// Elements on the way that are worth the memory, 8 bytes each, and those that are worth a thought.
constexpr std::int64_t k_most_whole = std::int64_t{1} << 27;
constexpr std::int64_t k_least_whole = std::int64_t{1} << 16;

/// Steps for an element of the value, 1 at least.
double steps_of_element(const Graph& graph, std::size_t value, const NodeSteps& steps_of) {
  const auto all = static_cast<double>(program_oracle::elements_of(graph.values[value].type));
  return std::max(1.0, steps_of(graph.nodes[*graph.values[value].node]) / std::max(all, 1.0));
}

/// Reads of one node that are worth looking at for what an element costs.
constexpr std::int64_t k_most_counted_reads = std::int64_t{1} << 24;

/// Measured on a core (2026-11-27): some 100 ns for an element that is kept, 12 for one that is not, and 0.2 for a term
/// of a long sum.
constexpr double k_afresh = 1.0 / 8;
constexpr double k_term = 1.0 / 512;

/// What an element of a value takes, in units of one that is kept.
Result<double> cost_of_element(const Graph& graph, const Node& node) {
  KW_TRY(const auto answer, program_oracle::answer_of(graph, node, program_oracle::zero_operands(graph)));
  if (const auto* spans = std::get_if<program_oracle::BySpan>(&answer)) {
    return 1 + k_term * static_cast<double>(spans->terms);
  }
  const auto* by_element = std::get_if<program_oracle::ByElement>(&answer);
  return by_element != nullptr && by_element->reach != program_oracle::Reach::any ? k_afresh : 1.0;
}

/// What computing these takes; nothing where it is not known what they follow from.
Result<std::optional<double>> cost_of_needed(const Graph& graph, std::span<const WantedElements> wanted) {
  const auto is_leaf = [&](std::size_t value) { return !graph.values[value].node.has_value(); };
  KW_TRY(const auto needed, program_oracle::needed_elements(graph, wanted, is_leaf, program_oracle::OfLeaves::reads,
                                                            serial_for, k_most_counted_reads));
  double cost = 0;
  for (std::size_t value = 0; value < needed.size(); ++value) {
    if (needed[value].ranges.empty()) continue;
    double one = k_term;
    if (!is_leaf(value)) {
      if (!needed[value].exact) return std::nullopt;
      KW_TRY(one, cost_of_element(graph, graph.nodes[*graph.values[value].node]));
    }
    cost += one * static_cast<double>(program_oracle::count_of(needed[value].ranges));
  }
  return cost;
}

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
    evaluation.compute_rows(one, parallel);
    program_oracle::in_scattered_tasks(std::ssize(values), parallel, [&](std::int64_t i) {
      const auto at = static_cast<std::size_t>(i);
      values[at] = evaluation.element(one.value, one.elements[at]);
    });
  }
  return answers;
}

Result<OnTheWay> faster_on_the_way(const Graph& graph, const std::map<std::size_t, LeafElements>& leaves,
                                   const TwoRows& two, std::int64_t rows, const NodeSteps& steps_of) {
  // Where it is known what is needed, no more than that is computed, and side by side.
  KW_TRY(const auto needed, cost_of_needed(graph, two.front()));
  if (needed) return OnTheWay::elements;
  DemandEvaluation evaluation(graph, leaves, OnTheWay::elements);
  KW_TRY_VOID(evaluation.prepare(two.front(), serial_for, Counting::computed));
  const std::int64_t elements = evaluation.elements_on_the_way();
  if (elements < k_least_whole || elements > k_most_whole) return OnTheWay::elements;
  AskingCosts costs{std::vector<double>(graph.values.size(), 0.0), 1.0, 0.0};
  double whole = 0;
  evaluation.for_each_on_the_way([&](std::size_t value) {
    const double steps = steps_of_element(graph, value, steps_of);
    costs.kept[value] = program_oracle::k_whole_beyond + steps - 1;
    whole += steps * static_cast<double>(program_oracle::elements_of(graph.values[value].type));
  });
  const auto first = evaluation.cost_of(two.front(), costs, whole / k_threads);
  if (!first) return OnTheWay::tensors;
  const double left = whole - k_threads * *first;
  const auto other = evaluation.cost_of(two.back(), costs, left / static_cast<double>(rows));
  return other ? OnTheWay::elements : OnTheWay::tensors;
}

Result<double> elements_asked_for(const Graph& graph, const TwoRows& two, double most) {
  KW_TRY(const auto first, cost_of_needed(graph, two.front()));
  if (first) {
    if (*first > most) return most;
    std::vector<WantedElements> both = two.front();
    both.insert(both.end(), two.back().begin(), two.back().end());
    KW_TRY(const auto all, cost_of_needed(graph, both));
    if (all) return std::min(most, *all - *first);
  }
  std::map<std::size_t, LeafElements> zeros;
  for (std::size_t i = 0; i < graph.values.size(); ++i) {
    if (!graph.values[i].node) zeros.emplace(i, [](std::int64_t) { return 0.0; });
  }
  DemandEvaluation evaluation(graph, zeros, OnTheWay::elements);
  KW_TRY_VOID(evaluation.prepare(two.front(), serial_for, Counting::computed_and_read));
  const AskingCosts costs{std::vector<double>(graph.values.size(), 1.0), k_afresh, k_term};
  if (!evaluation.cost_of(two.front(), costs, most)) return most;
  return evaluation.cost_of(two.back(), costs, most).value_or(most);
}

}  // namespace kw
