#include "program/simplify/graph_rewriter.hpp"

#include <algorithm>
#include <utility>

namespace kw {
namespace {

/// Calls `visit` for every tensor that the node reads.
template <typename AnyNode, typename Visit>
void for_each_operand(AnyNode& node, const Visit& visit) {
  for (auto& argument : node.arguments) {
    if (auto* one = std::get_if<ValueRef>(&argument.value)) visit(*one);
    if (auto* many = std::get_if<std::vector<ValueRef>>(&argument.value))
      std::for_each(many->begin(), many->end(), visit);
  }
}

}  // namespace

GraphRewriter::GraphRewriter(Graph graph, std::vector<std::size_t> outputs)
    : graph_(std::move(graph)), outputs_(std::move(outputs)) {
  drop_unread();
}

const Node* GraphRewriter::maker(std::size_t value) const {
  const auto node = graph_.values[value].node;
  return node && graph_.nodes[*node].outputs.size() == 1 ? &graph_.nodes[*node] : nullptr;
}

void GraphRewriter::count_reads(const Node& node, int times) {
  for_each_operand(node, [&](const ValueRef& tensor) { reads_[tensor.value] += static_cast<std::size_t>(times); });
}

void GraphRewriter::replace(std::size_t value, std::size_t other) {
  for (auto& node : graph_.nodes) {
    for_each_operand(node, [&](ValueRef& tensor) { tensor.value = tensor.value == value ? other : tensor.value; });
  }
  std::replace(outputs_.begin(), outputs_.end(), value, other);
  if (value != other) reads_[other] += std::exchange(reads_[value], 0);
}

void GraphRewriter::become(std::size_t index, const std::string& op, std::vector<Argument> arguments) {
  auto& node = graph_.nodes[index];
  count_reads(node, -1);
  node.op = op;
  node.arguments = std::move(arguments);
  node.outputs.resize(1);
  count_reads(node, 1);
}

std::size_t GraphRewriter::insert(std::size_t index, const std::string& op, std::vector<Argument> arguments,
                                  TensorType type) {
  const auto value = graph_.values.size();
  graph_.values.push_back({std::move(type), index, ""});
  const auto& before = graph_.nodes[index];
  Node node{op, std::move(arguments), {value}, before.where, before.module, false};
  reads_.push_back(0);
  count_reads(node, 1);
  graph_.nodes.insert(graph_.nodes.begin() + static_cast<std::ptrdiff_t>(index), std::move(node));
  number_makers();
  return value;
}

void GraphRewriter::drop_unread() {
  std::vector<bool> wanted(graph_.values.size(), false);
  for (const auto output : outputs_) wanted[output] = true;
  std::vector<Node> kept;
  for (std::size_t i = graph_.nodes.size(); i-- > 0;) {
    auto& node = graph_.nodes[i];
    if (std::none_of(node.outputs.begin(), node.outputs.end(), [&](std::size_t one) { return wanted[one]; })) continue;
    for_each_operand(node, [&](const ValueRef& tensor) { wanted[tensor.value] = true; });
    kept.push_back(std::move(node));
  }
  std::reverse(kept.begin(), kept.end());
  graph_.nodes = std::move(kept);
  number_makers();
  reads_.assign(graph_.values.size(), 0);
  for (const auto output : outputs_) ++reads_[output];
  for (const auto& node : graph_.nodes) count_reads(node, 1);
}

void GraphRewriter::number_makers() {
  for (auto& value : graph_.values) value.node.reset();
  for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
    for (const auto output : graph_.nodes[i].outputs) graph_.values[output].node = i;
  }
}

Argument tensor_argument(const std::string& name, std::size_t value) {
  return {name, ValueRef{value}, false, true};
}

Argument attribute(const std::string& name, ArgumentValue value) {
  return {name, std::move(value), false, false};
}

std::optional<std::size_t> operand_of(const Node& node, std::string_view name) {
  const auto* argument = node.find(name);
  const auto* tensor = argument == nullptr ? nullptr : std::get_if<ValueRef>(&argument->value);
  return tensor == nullptr ? std::nullopt : std::optional(tensor->value);
}

std::optional<double> number_of(const Node& node, std::string_view name) {
  const auto* argument = node.find(name);
  if (argument == nullptr) return std::nullopt;
  if (const auto* real = std::get_if<double>(&argument->value)) return *real;
  const auto* integer = std::get_if<Extent>(&argument->value);
  if (integer == nullptr || !integer->is_constant()) return std::nullopt;
  return static_cast<double>(integer->value());
}

std::vector<std::size_t> axes_of(const Node& node, std::string_view name, std::size_t rank) {
  std::vector<std::size_t> axes;
  const auto add = [&](const Extent& axis) {
    const auto at = axis.value() < 0 ? axis.value() + static_cast<std::int64_t>(rank) : axis.value();
    axes.push_back(static_cast<std::size_t>(at));
  };
  const auto* argument = node.find(name);
  if (argument != nullptr) {
    if (const auto* one = std::get_if<Extent>(&argument->value)) add(*one);
    if (const auto* many = std::get_if<Shape>(&argument->value)) std::for_each(many->begin(), many->end(), add);
  }
  const bool listed = !axes.empty();
  for (std::size_t i = 0; i < rank && !listed; ++i) axes.push_back(i);
  return axes;
}

bool flag_of(const Node& node, std::string_view name) {
  const auto* argument = node.find(name);
  const auto* flag = argument == nullptr ? nullptr : std::get_if<bool>(&argument->value);
  return flag != nullptr && *flag;
}

bool same_type(const TensorType& a, const TensorType& b) {
  return a.dtype == b.dtype && shape_text(a.shape) == shape_text(b.shape);
}

}  // namespace kw
