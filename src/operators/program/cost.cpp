#include "program/explain/cost.hpp"

#include <algorithm>
#include <string_view>

#include "operators/program/parts.hpp"
#include "operators/program/program_detail.hpp"
#include "operators/program/steps.hpp"
#include "program/simplify/simplify.hpp"

namespace kw {
namespace {

/// The operand of which the node reads what other operands say, or a part; "" where it reads all of each.
struct PartialRead {
  std::string_view operand;
  bool by_indices = false;  ///< the data decide, and no element is certain to be read
};

PartialRead partial_read(const Node& node) {
  if (node.op == "embedding") return {"weight", true};
  if (node.op == "gather" || node.op == "take_along_dim" || node.op == "index_select" || node.op == "index") {
    return {"input", true};
  }
  if (node.op == "slice" || node.op == "narrow" || node.op == "select") return {"input", false};
  return {};
}

/// Elements of the value that no kernel can do without, whatever the data.
double needed_elements(const GraphRewriter& read, std::size_t value) {
  const double all = elements_of(read.type(value));
  double needed = 0;
  std::size_t partly = 0;
  for (const auto& node : read.graph().nodes) {
    const PartialRead part = partial_read(node);
    if (part.operand.empty() || operand_of(node, part.operand) != value) continue;
    ++partly;
    if (!part.by_indices) needed += elements_of(read.type(node.outputs.front()));
  }
  return read.readers(value) > partly ? all : std::min(all, needed);
}

}  // namespace

WorkloadCost program_cost(const Problem& problem, const Workload& workload) {
  const auto program = program_at(problem, workload.axes);
  KW_CHECK(program.has_value(), "{} was never checked: {}", workload.name, program.error().to_string());
  const ProgramDetail& detail = program_detail(problem);
  const Graph& graph = (*program)->graph;
  WorkloadCost cost{0, 0, steps_of(graph)};
  const bool one_product = graph.nodes.size() == 1 && graph.nodes.front().op.find("conv") == std::string::npos;
  if (one_product) cost.flops = product_flops(graph, graph.nodes.front());
  // What algebra does without is read by nobody.
  auto simple = simplified(graph, detail.outputs);
  const GraphRewriter read(std::move(simple.graph), std::move(simple.outputs));
  const auto add_bytes = [&](const std::vector<TensorSpec>& tensors, const std::vector<std::size_t>& values) {
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const bool is_read = &tensors == &problem.inputs;
      const double elements = is_read ? needed_elements(read, values[i]) : elements_of(graph.values[values[i]].type);
      cost.bytes += elements * static_cast<double>(bytes_per_element(tensors[i].dtype));
    }
  };
  add_bytes(problem.inputs, detail.inputs);
  add_bytes(problem.outputs, detail.outputs);
  return cost;
}

}  // namespace kw
