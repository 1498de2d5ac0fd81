#include "program/explain/cost.hpp"

#include <algorithm>
#include <map>
#include <string_view>

namespace kw {
namespace {

double elements(const Shape& shape) {
  double count = 1.0;
  for (const auto& extent : shape) count *= static_cast<double>(extent.value());
  return count;
}

double bytes_of_type(const TensorType& type) {
  return elements(type.shape) * static_cast<double>(bytes_per_element(type.dtype));
}

const Shape& operand_shape(const Graph& graph, const Node& node, std::string_view name) {
  return graph.type(std::get<ValueRef>(node.find(name)->value)).shape;
}

const Shape& result_shape(const Graph& graph, const Node& node) {
  return graph.values[node.outputs.front()].type.shape;
}

double last(const Shape& shape) {
  return static_cast<double>(shape.back().value());
}

/// Every letter of the equation once.
double einsum_points(const Graph& graph, const Node& node) {
  const auto& equation = std::get<std::string>(node.find("equation")->value);
  const auto& operands = std::get<std::vector<ValueRef>>(node.find("operands")->value);
  std::map<char, double> extents;
  std::size_t operand = 0;
  std::size_t axis = 0;
  double unnamed = 1.0;
  for (const char c : equation.substr(0, equation.find("->"))) {
    if (operand >= operands.size()) break;
    const auto& shape = graph.type(operands[operand]).shape;
    if (c == ',') {
      ++operand;
      axis = 0;
    } else if (c == '.') {
      unnamed = elements(result_shape(graph, node));  // an upper bound: the axes under "..." are among the result's
    } else if (c != ' ' && axis < shape.size()) {
      extents[c] = static_cast<double>(shape[axis++].value());
    }
  }
  double points = unnamed;
  for (const auto& [letter, extent] : extents) points *= extent;
  return points;
}

/// Of two factors. How many are left of more depends on which are multiplied first: at least each element is met once.
double einsum_products(const Graph& graph, const Node& node) {
  const auto& operands = std::get<std::vector<ValueRef>>(node.find("operands")->value);
  if (operands.size() <= 2) return einsum_points(graph, node);
  double most = elements(result_shape(graph, node));
  for (const auto& operand : operands) most = std::max(most, elements(graph.type(operand).shape));
  return most;
}

}  // namespace

double product_flops(const Graph& graph, const Node& node) {
  const auto& op = node.op;
  const double result = elements(result_shape(graph, node));
  if (op.starts_with("conv_transpose")) {
    const auto& weight = operand_shape(graph, node, "weight");
    return 2.0 * elements(operand_shape(graph, node, "input")) * elements(weight) /
           static_cast<double>(weight[0].value());
  }
  if (op.starts_with("conv")) {
    const auto& weight = operand_shape(graph, node, "weight");
    return 2.0 * result * elements(weight) / static_cast<double>(weight[0].value());
  }
  if (op == "linear") return 2.0 * result * last(operand_shape(graph, node, "weight"));
  if (op == "matmul" || op == "mm" || op == "bmm" || op == "mv" || op == "dot")
    return 2.0 * result * last(operand_shape(graph, node, "input"));
  if (op == "addmm") return 2.0 * result * last(operand_shape(graph, node, "mat1"));
  if (op == "baddbmm") return 2.0 * result * last(operand_shape(graph, node, "batch1"));
  if (op == "addmv") return 2.0 * result * last(operand_shape(graph, node, "mat"));
  if (op == "einsum") return 2.0 * einsum_products(graph, node);
  if (op == "recurrence") {
    const auto& weight = operand_shape(graph, node, "weight");
    return 2.0 * result * static_cast<double>(weight[0].value());
  }
  if (op == "bilinear")
    return 2.0 * result * last(operand_shape(graph, node, "input1")) * last(operand_shape(graph, node, "input2"));
  if (op != "scaled_dot_product_attention") return 0.0;
  const auto& query = operand_shape(graph, node, "query");
  const auto& key = operand_shape(graph, node, "key");
  const double rows = result / last(result_shape(graph, node));
  return 2.0 * rows * static_cast<double>(key[key.size() - 2].value()) *
         (last(query) + last(result_shape(graph, node)));
}

ProgramCost cost_of(const Program& program) {
  ProgramCost cost;
  for (const auto& node : program.graph.nodes) cost.product_flops += product_flops(program.graph, node);
  for (const auto& input : program.inputs) {
    if (input.type) cost.input_bytes += bytes_of_type(*input.type);
  }
  for (const auto& parameter : program.parameters) {
    if (parameter.kind == ParameterKind::parameter) cost.parameter_bytes += bytes_of_type(parameter.type);
  }
  for (const auto output : program.outputs) cost.output_bytes += bytes_of_type(program.graph.values[output].type);
  return cost;
}

}  // namespace kw
