// Elements of a graph on demand, and what asking for them takes.

#include <algorithm>
#include <numeric>
#include <utility>

#include "operators/program/oracle/demand_evaluation.hpp"
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

/// body(i) for each, where neighbours are asked for at different times: they share groups, and a thread waits for
/// another that computes one.
void in_scattered_tasks(std::int64_t count, const ParallelFor& parallel,
                        const std::function<void(std::int64_t)>& body) {
  constexpr std::int64_t k_longest = 4096, k_fewest = 256;
  const std::int64_t length = std::clamp<std::int64_t>(count / k_fewest, 1, k_longest);
  const std::int64_t tasks = (count + length - 1) / length;
  std::int64_t step = std::max<std::int64_t>(1, tasks * 5 / 8);
  while (std::gcd(step, tasks) != 1) ++step;
  parallel(tasks, [&](std::int64_t task) {
    const std::int64_t first = task * step % tasks * length;
    for (auto i = first; i < std::min(count, first + length); ++i) body(i);
  });
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
    in_scattered_tasks(std::ssize(values), parallel, [&](std::int64_t i) {
      const auto at = static_cast<std::size_t>(i);
      values[at] = evaluation.element(one.value, one.elements[at]);
    });
  }
  return answers;
}

Result<OnTheWay> faster_on_the_way(const Graph& graph, const std::map<std::size_t, LeafElements>& leaves,
                                   const TwoRows& two, std::int64_t rows, const NodeSteps& steps_of) {
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
  std::map<std::size_t, LeafElements> zeros;
  for (std::size_t i = 0; i < graph.values.size(); ++i) {
    if (!graph.values[i].node) zeros.emplace(i, [](std::int64_t) { return 0.0; });
  }
  DemandEvaluation evaluation(graph, zeros, OnTheWay::elements);
  KW_TRY_VOID(evaluation.prepare(two.front(), serial_for, Counting::computed_and_read));
  // Measured on a core (2026-11-27): some 100 ns for an element that is kept, 12 for one that is not, and 0.2 for a
  // term of a long sum.
  const AskingCosts costs{std::vector<double>(graph.values.size(), 1.0), 1.0 / 8, 1.0 / 512};
  if (!evaluation.cost_of(two.front(), costs, most)) return most;
  return evaluation.cost_of(two.back(), costs, most).value_or(most);
}

}  // namespace kw
