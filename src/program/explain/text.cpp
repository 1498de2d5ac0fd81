#include "program/explain/text.hpp"

#include <fmt/format.h>

#include <iterator>

#include "base/text.hpp"
#include "program/explain/cost.hpp"
#include "program/operators/schema.hpp"

namespace kw {
namespace {

/// "float32 [batch_size, 64] = [16, 64]", the numbers only where they are not the same.
std::string type_text(const TensorType& type) {
  const auto symbolic = shape_text(type.shape);
  const auto numbers = argument_text(type.shape);
  return fmt::format("{} {}{}", to_string(type.dtype), symbolic, symbolic == numbers ? "" : " = " + numbers);
}

std::string value_name(const Graph& graph, std::size_t value) {
  const auto& name = graph.values[value].name;
  return name.empty() ? fmt::format("%{}", value) : name;
}

std::string operand_text(const Graph& graph, const ArgumentValue& value) {
  if (const auto* tensor = std::get_if<ValueRef>(&value)) return value_name(graph, tensor->value);
  if (const auto* tensors = std::get_if<std::vector<ValueRef>>(&value)) {
    return "[" + join(*tensors, ", ", [&](const ValueRef& one) { return value_name(graph, one.value); }) + "]";
  }
  return argument_text(value);
}

std::string source_text(const Graph& sources, const std::optional<ElementDistribution>& distribution,
                        std::size_t source) {
  if (distribution) return distribution->text();
  const auto made = sources.values[source].node;
  return made ? "made by " + sources.nodes[*made].op : "given";
}

class ProgramPrinter {
 public:
  explicit ProgramPrinter(const Program& program) : program_(program) {}

  std::string run() {
    line("{}: {} nodes, mode {}", program_.name, program_.graph.nodes.size(), to_string(program_.mode));
    line("axes{}{}", program_.axes.empty() ? " none" : " ", join(program_.axes, " ", [](const ProgramAxis& axis) {
           return fmt::format("{}={}", axis.name, axis.extent);
         }));
    inputs();
    parameters();
    line("graph");
    for (const auto& node : program_.graph.nodes) print(node);
    line("outputs");
    for (const auto output : program_.outputs)
      line("  {}  {}", value_name(program_.graph, output), type_text(program_.graph.values[output].type));
    cost();
    return std::move(text_);
  }

 private:
  template <typename... Args>
  void line(fmt::format_string<Args...> form, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), form, std::forward<Args>(args)...);
    text_ += "\n";
  }

  void inputs() {
    line("inputs");
    for (const auto& input : program_.inputs) {
      if (input.type) {
        line("  {}  {}  {}", input.name, type_text(*input.type),
             source_text(program_.sources, input.distribution, input.source));
      } else {
        line("  {}  the number {}", input.name, input.number);
      }
    }
  }

  void parameters() {
    line("parameters{}", program_.parameters.empty() ? " none" : "");
    for (const auto& one : program_.parameters) {
      const auto* kind = one.kind == ParameterKind::parameter ? ""
                         : one.kind == ParameterKind::buffer  ? "  (buffer)"
                                                              : "  (not in state_dict)";
      line("  {}  {}  {}{}{}", one.name, type_text(one.type),
           source_text(program_.sources, one.distribution, one.source), kind, one.value ? "" : "  unused");
    }
  }

  void print(const Node& node) {
    const auto names = join(node.outputs, ", ", [&](std::size_t value) { return value_name(program_.graph, value); });
    const auto types =
        join(node.outputs, "; ", [&](std::size_t value) { return type_text(program_.graph.values[value].type); });
    line("  {} = {}  {}{}", names, node_text(program_.graph, node), types,
         node.module.empty() ? "" : "  # " + node.module);
    if (node.random) line("    random: each call gives another result; read it with --mode eval");
  }

  void cost() {
    const auto found = cost_of(program_);
    line("products   {:.4g} GFLOP", found.product_flops / 1e9);
    line("bytes      {:.4g} MB inputs, {:.4g} MB parameters, {:.4g} MB outputs", found.input_bytes / 1e6,
         found.parameter_bytes / 1e6, found.output_bytes / 1e6);
  }

  const Program& program_;
  std::string text_;
};

}  // namespace

std::string node_text(const Graph& graph, const Node& node) {
  std::vector<std::string> parts;
  bool left_out = false;
  for (const auto& argument : node.arguments) {
    if (!argument.is_tensor) continue;
    const bool absent = std::holds_alternative<std::monostate>(argument.value);
    if (!absent) parts.push_back((left_out ? argument.name + "=" : "") + operand_text(graph, argument.value));
    left_out = left_out || absent;
  }
  for (const auto& argument : node.arguments) {
    const bool said =
        !argument.is_tensor && !argument.is_default && !std::holds_alternative<std::monostate>(argument.value);
    if (said) parts.push_back(argument.name + "=" + argument_text(argument.value));
  }
  return node.op + "(" + join(parts) + ")";
}

std::string program_text(const Program& program) {
  return ProgramPrinter(program).run();
}

}  // namespace kw
