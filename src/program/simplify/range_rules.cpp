// Functions that keep their argument within bounds: relu, relu6, hardtanh, clamp.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "program/simplify/rule_tables.hpp"

namespace kw {
namespace {

constexpr double k_unbounded = std::numeric_limits<double>::infinity();

/// min(max(x, least), most); NaN stays.
struct Bounds {
  double least = -k_unbounded;
  double most = k_unbounded;

  [[nodiscard]] double of(double x) const { return std::min(std::max(x, least), most); }
  friend bool operator==(const Bounds& a, const Bounds& b) { return a.least == b.least && a.most == b.most; }
};

/// False where the bound is no number.
bool read_bound(const Node& node, std::string_view name, double& bound) {
  const auto* argument = node.find(name);
  if (argument == nullptr || std::holds_alternative<std::monostate>(argument->value)) return true;
  const auto number = number_of(node, name);
  if (number) bound = *number;
  return number.has_value() && !std::isnan(*number);
}

std::optional<Bounds> bounds_of(const GraphRewriter& graph, const Node& node) {
  Bounds bounds;
  bool known = false;
  if (node.op == "relu" || node.op == "relu6") {
    bounds = {0.0, node.op == "relu" ? k_unbounded : 6.0};
    known = true;
  } else if (node.op == "hardtanh") {
    known = read_bound(node, "min_val", bounds.least) && read_bound(node, "max_val", bounds.most);
  } else if (node.op.starts_with("clamp")) {
    known = read_bound(node, "min", bounds.least) && read_bound(node, "max", bounds.most);
  }
  const auto input = known ? operand_of(node, "input") : std::nullopt;
  const bool fits = input && bounds.least <= bounds.most && is_floating(graph.type(*input).dtype) &&
                    same_type(graph.type(*input), graph.type(node.outputs[0]));
  return fits ? std::optional(bounds) : std::nullopt;
}

ArgumentValue bound_argument(double bound) {
  return std::isinf(bound) ? ArgumentValue(std::monostate()) : ArgumentValue(bound);
}

bool one_range(GraphRewriter& graph, std::size_t index) {
  const auto& node = graph.graph().nodes[index];
  const auto outer = bounds_of(graph, node);
  const auto operand = outer ? operand_of(node, "input") : std::nullopt;
  const auto* made = operand ? graph.maker(*operand) : nullptr;
  const auto inner = made != nullptr ? bounds_of(graph, *made) : std::nullopt;
  if (!inner) return false;
  const Bounds both{outer->of(inner->least), outer->of(inner->most)};
  if (both == *inner) {
    graph.replace(node.outputs[0], *operand);
    return true;
  }
  if (std::isinf(both.least) && std::isinf(both.most)) return false;
  graph.become(index, "clamp",
               {tensor_argument("input", *operand_of(*made, "input")),
                {"min", bound_argument(both.least), false, true},
                {"max", bound_argument(both.most), false, true}});
  return true;
}

constexpr std::array k_range_rules = {
    SimplificationRule{"one_range", "bounds of bounds, such as relu of clamp, are one pair of bounds", false,
                       one_range},
};

}  // namespace

std::span<const SimplificationRule> range_rules() {
  return k_range_rules;
}

}  // namespace kw
