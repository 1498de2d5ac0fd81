#include "operators/program/steps.hpp"

#include <algorithm>

#include "program/explain/cost.hpp"

namespace kw {
namespace {

/// How many elements of its operand each element of a pooling sees; 1 for other operators.
double window_of(const Node& node) {
  const Argument* const kernel = node.find("kernel_size");
  if (kernel == nullptr) return 1;
  if (const auto* one = std::get_if<Extent>(&kernel->value)) return static_cast<double>(one->value());
  const auto* shape = std::get_if<Shape>(&kernel->value);
  return shape == nullptr ? 1 : elements_of({ElementType::float32, *shape});
}

}  // namespace

double elements_of(const TensorType& type) {
  double elements = 1;
  for (const auto& extent : type.shape) elements *= static_cast<double>(extent.value());
  return elements;
}

double steps_of(const Graph& graph, const Node& node) {
  double steps = product_flops(graph, node);
  for (const auto output : node.outputs)
    steps = std::max(steps, window_of(node) * elements_of(graph.values[output].type));
  for (const auto& argument : node.arguments) {
    if (const auto* operand = std::get_if<ValueRef>(&argument.value)) {
      steps = std::max(steps, elements_of(graph.type(*operand)));
    }
  }
  return steps;
}

double steps_of(const Graph& graph) {
  double steps = 0;
  for (const auto& node : graph.nodes) steps += steps_of(graph, node);
  return steps;
}

}  // namespace kw
