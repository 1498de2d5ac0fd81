#include "program/explain/cost.hpp"

#include "operators/program/parts.hpp"
#include "operators/program/program_detail.hpp"
#include "operators/program/steps.hpp"
#include "program/simplify/simplify.hpp"

namespace kw {
WorkloadCost program_cost(const Problem& problem, const Workload& workload) {
  const auto program = program_at(problem, workload.axes);
  KW_CHECK(program.has_value(), "{} was never checked: {}", workload.name, program.error().to_string());
  const ProgramDetail& detail = program_detail(problem);
  const Graph& graph = (*program)->graph;
  WorkloadCost cost{0, 0, 0};
  for (const auto& node : graph.nodes) cost.steps += steps_of(graph, node);
  const bool one_product = graph.nodes.size() == 1 && graph.nodes.front().op.find("conv") == std::string::npos;
  if (one_product) cost.flops = product_flops(graph, graph.nodes.front());
  // What algebra does without is read by nobody.
  auto simple = simplified(graph, detail.outputs);
  const GraphRewriter read(std::move(simple.graph), std::move(simple.outputs));
  const auto add_bytes = [&](const std::vector<TensorSpec>& tensors, const std::vector<std::size_t>& values) {
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (&tensors == &problem.inputs && read.readers(values[i]) == 0) continue;
      const auto element = static_cast<double>(bytes_per_element(tensors[i].dtype));
      cost.bytes += elements_of(graph.values[values[i]].type) * element;
    }
  };
  add_bytes(problem.inputs, detail.inputs);
  add_bytes(problem.outputs, detail.outputs);
  return cost;
}

}  // namespace kw
