// Nodes whose result is an operand of theirs, or a constant.

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "program/simplify/rule_tables.hpp"

namespace kw {
namespace {

/// The tensor of `input` or `other` whose partner is a number.
struct TensorAndNumber {
  std::size_t tensor = 0;
  double number = 0.0;
  bool swapped = false;  ///< the number stands first
};

std::optional<TensorAndNumber> tensor_and_number(const Node& node) {
  const auto input = operand_of(node, "input");
  const auto other = operand_of(node, "other");
  if (const auto number = number_of(node, "other"); input && number) return TensorAndNumber{*input, *number, false};
  if (const auto number = number_of(node, "input"); other && number) return TensorAndNumber{*other, *number, true};
  return std::nullopt;
}

/// Readers of the result read `operand` instead, where both are of the same type.
bool is_operand(GraphRewriter& graph, std::size_t index, std::size_t operand) {
  const auto result = graph.graph().nodes[index].outputs[0];
  if (!same_type(graph.type(result), graph.type(operand))) return false;
  graph.replace(result, operand);
  return true;
}

bool has_rounding_mode(const Node& node) {
  const auto* mode = node.find("rounding_mode");
  return mode != nullptr && !std::holds_alternative<std::monostate>(mode->value);
}

bool times_one(GraphRewriter& graph, std::size_t index) {
  const auto& node = graph.graph().nodes[index];
  if (node.op != "mul" && node.op != "div") return false;
  const auto pair = tensor_and_number(node);
  const bool one = pair && pair->number == 1.0 && !(node.op == "div" && (pair->swapped || has_rounding_mode(node)));
  return one && is_operand(graph, index, pair->tensor);
}

/// -0 + 0 is 0: only these tell them apart, whatever lies between.
bool tells_zeros_apart(const Graph& graph) {
  constexpr std::array k_ops = {"div",     "reciprocal", "rsqrt",   "atan2",      "copysign",
                                "signbit", "pow",        "addcdiv", "true_divide"};
  return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                     [&](const Node& node) { return std::find(k_ops.begin(), k_ops.end(), node.op) != k_ops.end(); });
}

bool plus_zero(GraphRewriter& graph, std::size_t index) {
  const auto& node = graph.graph().nodes[index];
  if (node.op != "add" && node.op != "sub") return false;
  const auto pair = tensor_and_number(node);
  const auto alpha = number_of(node, "alpha").value_or(1.0);
  if (!pair || pair->number != 0.0 || !std::isfinite(alpha) || (pair->swapped && (node.op == "sub" || alpha != 1.0)))
    return false;
  if (node.op == "add" && tells_zeros_apart(graph.graph())) return false;
  return is_operand(graph, index, pair->tensor);
}

/// Element types whose products are rounded, and not taken modulo.
bool holds_reals(const GraphRewriter& graph, std::size_t value) {
  return is_floating(graph.type(value).dtype);
}

/// Of a multiplication or a division by a number, what it multiplies.
std::optional<TensorAndNumber> scale_of(const GraphRewriter& graph, const Node& node) {
  if (node.op != "mul" && node.op != "div") return std::nullopt;
  auto pair = tensor_and_number(node);
  if (!pair || (node.op == "div" && (pair->swapped || has_rounding_mode(node)))) return std::nullopt;
  if (node.op == "div") pair->number = 1.0 / pair->number;
  constexpr double k_most = 1 << 20;
  const double size = std::fabs(pair->number);
  const bool fits = size <= k_most && size >= 1.0 / k_most && holds_reals(graph, pair->tensor) &&
                    same_type(graph.type(pair->tensor), graph.type(node.outputs[0]));
  return fits ? pair : std::nullopt;
}

bool one_scale(GraphRewriter& graph, std::size_t index) {
  const auto outer = scale_of(graph, graph.graph().nodes[index]);
  const auto* made = outer ? graph.maker(outer->tensor) : nullptr;
  const auto inner = made != nullptr ? scale_of(graph, *made) : std::nullopt;
  if (!inner || graph.readers(outer->tensor) > 1) return false;
  // What the first one makes too large, the second one must not make small again.
  if (std::fabs(inner->number) > 1.0 && std::fabs(outer->number) < 1.0) return false;
  graph.become(index, "mul",
               {tensor_argument("input", inner->tensor), attribute("other", outer->number * inner->number)});
  return true;
}

/// Which axis of the operand each axis of the result is.
std::optional<std::vector<std::size_t>> transposed_axes(const GraphRewriter& graph, const Node& node) {
  const auto input = operand_of(node, "input");
  if (!input) return std::nullopt;
  const auto rank = graph.type(*input).shape.size();
  if (node.op == "permute") return axes_of(node, "dims", rank);
  std::vector<std::size_t> axes(rank);
  std::iota(axes.begin(), axes.end(), std::size_t{0});
  if (node.op == "t" && rank == 2) std::swap(axes[0], axes[1]);
  if (node.op == "transpose" && rank > 0)
    std::swap(axes[axes_of(node, "dim0", rank)[0]], axes[axes_of(node, "dim1", rank)[0]]);
  return node.op == "t" || node.op == "transpose" ? std::optional(axes) : std::nullopt;
}

bool one_transpose(GraphRewriter& graph, std::size_t index) {
  const auto& node = graph.graph().nodes[index];
  auto axes = transposed_axes(graph, node);
  if (!axes) return false;
  auto operand = *operand_of(node, "input");
  const auto* made = graph.maker(operand);
  const auto before = made != nullptr ? transposed_axes(graph, *made) : std::nullopt;
  if (before) {
    for (auto& axis : *axes) axis = (*before)[axis];
    operand = *operand_of(*made, "input");
  }
  if (std::is_sorted(axes->begin(), axes->end())) return is_operand(graph, index, operand);
  if (!before) return false;
  Shape dims;
  for (const auto axis : *axes) dims.emplace_back(static_cast<std::int64_t>(axis));
  graph.become(index, "permute", {tensor_argument("input", operand), attribute("dims", dims)});
  return true;
}

bool is_single(const Extent& extent) {
  return extent.is_constant() && extent.value() == 1;
}

bool reduced_single_elements(GraphRewriter& graph, std::size_t index) {
  constexpr std::array k_ops = {"sum", "mean", "prod", "amax", "amin", "max", "min", "logsumexp"};
  const auto& node = graph.graph().nodes[index];
  const auto input = operand_of(node, "input");
  if (std::find(k_ops.begin(), k_ops.end(), node.op) == k_ops.end() || !input || !holds_reals(graph, *input))
    return false;
  if (std::any_of(node.outputs.begin() + 1, node.outputs.end(),
                  [&](std::size_t one) { return graph.readers(one) > 0; }))
    return false;
  const auto& shape = graph.type(*input).shape;
  const auto axes = axes_of(node, "dim", shape.size());
  const auto single = [&](std::size_t axis) { return is_single(shape[axis]); };
  const auto result = node.outputs[0];
  if (!std::all_of(axes.begin(), axes.end(), single) || graph.type(result).dtype != graph.type(*input).dtype)
    return false;
  if (is_operand(graph, index, *input)) return true;
  graph.become(index, "reshape", {tensor_argument("input", *input), attribute("shape", graph.type(result).shape)});
  return true;
}

/// The result becomes zeros or ones, so that nothing reads what it followed from.
bool is_constant(GraphRewriter& graph, std::size_t index, const char* constant, std::size_t operand) {
  const auto result = graph.graph().nodes[index].outputs[0];
  if (!same_type(graph.type(result), graph.type(operand))) return false;
  graph.become(index, constant,
               {attribute("size", graph.type(result).shape), attribute("dtype", graph.type(result).dtype)});
  return true;
}

bool softmax_of_single_elements(GraphRewriter& graph, std::size_t index) {
  const auto& node = graph.graph().nodes[index];
  const bool logarithm = node.op == "log_softmax";
  if (node.op != "softmax" && node.op != "softmin" && !logarithm) return false;
  const auto input = *operand_of(node, "input");
  const auto& shape = graph.type(input).shape;
  const auto axes = axes_of(node, "dim", shape.size());
  if (axes.size() != 1 || !is_single(shape[axes[0]])) return false;
  return is_constant(graph, index, logarithm ? "zeros" : "ones", input);
}

bool minus_itself(GraphRewriter& graph, std::size_t index) {
  const auto& node = graph.graph().nodes[index];
  const auto input = operand_of(node, "input");
  const bool itself =
      node.op == "sub" && input && input == operand_of(node, "other") && number_of(node, "alpha").value_or(1.0) == 1.0;
  return itself && is_constant(graph, index, "zeros", *input);
}

constexpr std::array k_identity_rules = {
    SimplificationRule{"times_one", "x * 1 = x / 1 = x", false, times_one},
    SimplificationRule{"plus_zero", "x + 0 = x - 0 = x", false, plus_zero},
    SimplificationRule{"one_scale", "(x * a) * b = x * (a * b)", false, one_scale},
    SimplificationRule{"one_transpose", "a transpose of a transpose is one transpose, or none", false, one_transpose},
    SimplificationRule{"single_elements", "the sum, mean, product, largest or smallest of one element is that element",
                       false, reduced_single_elements},
    SimplificationRule{"softmax_of_one", "softmax over one element is 1, and its logarithm 0", true,
                       softmax_of_single_elements},
    SimplificationRule{"minus_itself", "x - x = 0", true, minus_itself},
};

}  // namespace

std::span<const SimplificationRule> identity_rules() {
  return k_identity_rules;
}

}  // namespace kw
