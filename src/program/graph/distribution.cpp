// From the nodes that make a tensor to the rule its elements are drawn by.

#include <fmt/format.h>

#include <utility>

#include "program/graph/graph.hpp"

namespace kw {
namespace {

using Kind = ElementDistribution::Kind;

std::optional<double> number_of(const Argument* argument) {
  if (argument == nullptr) return std::nullopt;
  if (const auto* integer = std::get_if<Extent>(&argument->value)) return static_cast<double>(integer->value());
  if (const auto* real = std::get_if<double>(&argument->value)) return *real;
  if (const auto* truth = std::get_if<bool>(&argument->value)) return *truth ? 1.0 : 0.0;
  return std::nullopt;
}

std::optional<ElementDistribution> drawn(const Node& node) {
  const auto rule = [&](Kind kind, const char* first, const char* second) -> std::optional<ElementDistribution> {
    const auto low = number_of(node.find(first));
    const auto high = number_of(node.find(second));
    if (!low || !high) return std::nullopt;
    return ElementDistribution{kind, *low, *high};
  };
  const auto& op = node.op;
  if (op == "rand" || op == "rand_like") return ElementDistribution{Kind::uniform, 0.0, 1.0};
  if (op == "randn" || op == "randn_like") return ElementDistribution{Kind::normal, 0.0, 1.0};
  if (op == "uniform") return rule(Kind::uniform, "low", "high");
  if (op == "normal") return rule(Kind::normal, "mean", "std");
  if (op == "randint" || op == "randint_like") return rule(Kind::integers, "low", "high");
  if (op == "zeros" || op == "zeros_like") return ElementDistribution{Kind::constant, 0.0, 0.0};
  if (op == "ones" || op == "ones_like") return ElementDistribution{Kind::constant, 1.0, 0.0};
  if (op == "full" || op == "full_like") return rule(Kind::constant, "fill_value", "fill_value");
  return std::nullopt;
}

/// Of `scale` * x + `move`.
std::optional<ElementDistribution> moved(std::optional<ElementDistribution> of, double scale, double move) {
  if (!of) return of;
  const bool discrete = of->kind == Kind::integers;
  if (discrete && (scale != 1.0 || move != 0.0)) return std::nullopt;
  const double first = of->first * scale + move;
  switch (of->kind) {
    case Kind::normal:
      return ElementDistribution{Kind::normal, first, of->second * (scale < 0 ? -scale : scale)};
    case Kind::constant:
      return ElementDistribution{Kind::constant, first, 0.0};
    case Kind::uniform:
    case Kind::integers:
      break;
  }
  if (scale <= 0.0 && !discrete) return std::nullopt;  // the open end would change sides
  return ElementDistribution{of->kind, first, of->second * scale + move};
}

/// Which operators leave the elements as they are, in another shape or type. A type that cannot hold them is not among
/// them: booleans and integers keep what integers from 0 to 1 had.
bool keeps_elements(const Node& node) {
  for (const std::string_view name : {"view", "reshape", "flatten", "unsqueeze", "squeeze", "clone", "contiguous",
                                      "transpose", "permute", "t", "expand", "requires_grad_"}) {
    if (node.op == name) return true;
  }
  return false;
}

std::optional<ElementDistribution> converted(const Graph& sources, const Node& node,
                                             std::optional<ElementDistribution> of) {
  if (!of) return of;
  const auto to = sources.values[node.outputs.front()].type.dtype;
  if (is_floating(to)) return of->kind == Kind::integers ? std::nullopt : of;
  const bool bits = of->kind == Kind::integers && of->first == 0.0 && of->second <= 2.0;
  return bits || of->kind == Kind::constant || (of->kind == Kind::integers && to != ElementType::boolean)
             ? of
             : std::nullopt;
}

/// scale * x + move
struct Scaling {
  double scale = 1.0;
  double move = 0.0;
};

/// Puts what `node` does to its first operand in front of `after`; absent where that is no scaling by a number.
std::optional<Scaling> scaled(const Node& node, const Scaling& after) {
  if (keeps_elements(node)) return after;
  const auto number = node.arguments.size() < 2 ? std::nullopt : number_of(&node.arguments[1]);
  if (!number) return std::nullopt;
  if (node.op == "mul") return Scaling{after.scale * *number, after.move};
  if (node.op == "div" && *number != 0.0) return Scaling{after.scale / *number, after.move};
  if (node.op == "add") return Scaling{after.scale, after.move + after.scale * *number};
  if (node.op == "sub") return Scaling{after.scale, after.move - after.scale * *number};
  return std::nullopt;
}

}  // namespace

std::optional<ElementDistribution> distribution_of(const Graph& sources, std::size_t value) {
  Scaling scaling;
  // Walked from the result to the draw, so that the last step is met first.
  while (const auto made = sources.values[value].node) {
    const Node& node = sources.nodes[*made];
    if (const auto rule = drawn(node)) return moved(rule, scaling.scale, scaling.move);
    const auto* operand = node.arguments.empty() ? nullptr : std::get_if<ValueRef>(&node.arguments.front().value);
    if (operand == nullptr) return std::nullopt;
    if (node.op == "to") {
      const bool plain = scaling.scale == 1.0 && scaling.move == 0.0;
      return plain ? converted(sources, node, distribution_of(sources, operand->value)) : std::nullopt;
    }
    const auto further = scaled(node, scaling);
    if (!further) return std::nullopt;
    scaling = *further;
    value = operand->value;
  }
  return std::nullopt;
}

std::string ElementDistribution::text() const {
  switch (kind) {
    case Kind::uniform:
      return fmt::format("uniform[{:.8g},{:.8g})", first, second);
    case Kind::normal:
      return fmt::format("normal({:.8g},{:.8g})", first, second);
    case Kind::integers:
      return fmt::format("randint[{:.10g},{:.10g})", first, second);
    case Kind::constant:
      break;
  }
  return fmt::format("constant({:.8g})", first);
}

}  // namespace kw
