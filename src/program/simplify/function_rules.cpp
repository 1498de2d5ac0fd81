// Functions of functions that are one function.

#include <array>

#include "program/simplify/rule_tables.hpp"

namespace kw {
namespace {

/// What `value` is `op` of, if nothing else reads it.
const Node* made_by(const GraphRewriter& graph, std::optional<std::size_t> value, std::string_view op) {
  const auto* node = value && graph.readers(*value) == 1 ? graph.maker(*value) : nullptr;
  return node != nullptr && node->op == op ? node : nullptr;
}

/// x, where `factor` is tanh(softplus(x)). From the threshold on softplus(x) is x, whose tanh is 1 up to 1e-17.
std::optional<std::size_t> mish_factor_of(const GraphRewriter& graph, std::optional<std::size_t> factor) {
  constexpr double k_one_from = 20.0;
  const auto* tanh = made_by(graph, factor, "tanh");
  const auto* softplus = tanh == nullptr ? nullptr : made_by(graph, operand_of(*tanh, "input"), "softplus");
  if (softplus == nullptr || number_of(*softplus, "beta") != 1.0) return std::nullopt;
  if (number_of(*softplus, "threshold").value_or(0.0) < k_one_from) return std::nullopt;
  return operand_of(*softplus, "input");
}

bool mish(GraphRewriter& graph, std::size_t index) {
  const auto& node = graph.graph().nodes[index];
  if (node.op != "mul") return false;
  const auto input = operand_of(node, "input"), other = operand_of(node, "other");
  for (const auto& [factor, x] : {std::pair(input, other), std::pair(other, input)}) {
    if (!x || mish_factor_of(graph, factor) != x) continue;
    if (!same_type(graph.type(*x), graph.type(node.outputs[0]))) return false;
    graph.become(index, "mish", {tensor_argument("input", *x)});
    return true;
  }
  return false;
}

constexpr std::array k_function_rules = {
    SimplificationRule{"mish", "x * tanh(softplus(x)) = mish(x), which takes one exponential", false, mish},
};

}  // namespace

std::span<const SimplificationRule> function_rules() {
  return k_function_rules;
}

}  // namespace kw
