// Sums over the results of a product of matrices need no product of matrices.

#include <array>
#include <cmath>

#include "program/simplify/rule_tables.hpp"

namespace kw {
namespace {

/// The tensor that the node sums over its last axis alone.
std::optional<std::size_t> summed_rows(const GraphRewriter& graph, const Node& node) {
  const auto input = operand_of(node, "input");
  if (node.op != "sum" || !input || !is_floating(graph.type(*input).dtype)) return std::nullopt;
  const auto rank = graph.type(*input).shape.size();
  const auto axes = axes_of(node, "dim", rank);
  const bool last =
      axes.size() == 1 && axes[0] + 1 == rank && graph.type(node.outputs[0]).dtype == graph.type(*input).dtype;
  return last && graph.readers(*input) == 1 ? input : std::nullopt;
}

Shape with_last(Shape shape, const Extent& extent) {
  shape.back() = extent;
  return shape;
}

/// The sum over `axis` of a matrix, with that axis as one of one element.
std::size_t insert_sum(GraphRewriter& graph, std::size_t& index, std::size_t tensor, std::size_t axis) {
  auto type = graph.type(tensor);
  type.shape[axis] = 1;
  return graph.insert(index++, "sum",
                      {tensor_argument("input", tensor), attribute("dim", Shape{static_cast<std::int64_t>(axis)}),
                       attribute("keepdim", true), attribute("dtype", std::monostate())},
                      std::move(type));
}

/// Node `index` becomes `op` with the sum's one column, or that and a change of shape where the sum drops its axis.
void become_column(GraphRewriter& graph, std::size_t index, const std::string& op, std::vector<Argument> arguments,
                   const Shape& rows) {
  const auto result = graph.type(graph.graph().nodes[index].outputs[0]);
  if (result.shape.size() == rows.size()) return graph.become(index, op, std::move(arguments));
  const auto column = graph.insert(index, op, std::move(arguments), {result.dtype, with_last(rows, 1)});
  graph.become(index + 1, "reshape", {tensor_argument("input", column), attribute("shape", result.shape)});
}

/// sum over j of (x W^T + b)[i, j] = x[i] . (sum over j of W[j]) + sum over j of b[j]
bool sum_of_linear(GraphRewriter& graph, std::size_t index) {
  const auto summed = summed_rows(graph, graph.graph().nodes[index]);
  const auto* made = summed ? graph.maker(*summed) : nullptr;
  if (made == nullptr || made->op != "linear") return false;
  const auto input = *operand_of(*made, "input");
  const auto weight = *operand_of(*made, "weight");
  const auto bias = operand_of(*made, "bias");
  if (graph.type(weight).shape.size() != 2) return false;
  const auto rows = graph.type(*summed).shape;
  std::vector<Argument> arguments = {tensor_argument("input", input),
                                     tensor_argument("weight", insert_sum(graph, index, weight, 0))};
  arguments.push_back(bias ? tensor_argument("bias", insert_sum(graph, index, *bias, 0))
                           : Argument{"bias", std::monostate(), true, true});
  become_column(graph, index, "linear", std::move(arguments), rows);
  return true;
}

/// sum over j of (x Y)[i, j] = x[i] . (sum over j of Y[:, j])
bool sum_of_product(GraphRewriter& graph, std::size_t index) {
  const auto summed = summed_rows(graph, graph.graph().nodes[index]);
  const auto* made = summed ? graph.maker(*summed) : nullptr;
  if (made == nullptr || (made->op != "matmul" && made->op != "mm")) return false;
  const auto input = *operand_of(*made, "input");
  const auto other = *operand_of(*made, made->op == "mm" ? "mat2" : "other");
  if (graph.type(other).shape.size() != 2 || graph.type(input).shape.size() < 2) return false;
  const auto rows = graph.type(*summed).shape;
  const auto column = insert_sum(graph, index, other, 1);
  become_column(graph, index, "matmul", {tensor_argument("input", input), tensor_argument("other", column)}, rows);
  return true;
}

/// sum of x * a = a * sum of x; it lets the sum meet a product.
bool sum_of_scaled(GraphRewriter& graph, std::size_t index) {
  const auto& node = graph.graph().nodes[index];
  const auto summed = summed_rows(graph, node);
  const auto* made = summed ? graph.maker(*summed) : nullptr;
  if (made == nullptr || (made->op != "mul" && made->op != "div")) return false;
  const auto input = operand_of(*made, "input");
  const auto number = number_of(*made, "other");
  const auto* mode = made->find("rounding_mode");
  const bool exact = mode == nullptr || std::holds_alternative<std::monostate>(mode->value);
  if (!input || !number || !exact || !same_type(graph.type(*input), graph.type(*summed))) return false;
  constexpr double k_most = 1 << 20;
  if (std::fabs(*number) > k_most || std::fabs(*number) < 1.0 / k_most) return false;
  const auto* product = graph.maker(*input);
  if (product == nullptr || (product->op != "linear" && product->op != "matmul" && product->op != "mm")) return false;
  auto arguments = node.arguments;
  for (auto& argument : arguments) {
    if (argument.name == "input") argument.value = ValueRef{*input};
  }
  const auto op = made->op;
  const auto scale = *made->find("other");
  const auto type = graph.type(node.outputs[0]);
  std::vector<Argument> scaling = {tensor_argument("input", graph.insert(index, "sum", std::move(arguments), type)),
                                   scale};
  if (op == "div") scaling.push_back({"rounding_mode", std::monostate(), true, false});
  graph.become(index + 1, op, std::move(scaling));
  return true;
}

constexpr std::array k_sum_rules = {
    SimplificationRule{"sum_of_scaled", "sum of x * a = a * sum of x", false, sum_of_scaled},
    SimplificationRule{"sum_of_linear", "the sum of the outputs of x W^T + b is x times the sum of W's rows + sum of b",
                       false, sum_of_linear},
    SimplificationRule{"sum_of_product", "the sum over the columns of x Y is x times the sum over the columns of Y",
                       false, sum_of_product},
};

}  // namespace

std::span<const SimplificationRule> sum_rules() {
  return k_sum_rules;
}

}  // namespace kw
