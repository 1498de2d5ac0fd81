#include "program/explain/json.hpp"

#include <nlohmann/json.hpp>

#include "program/explain/cost.hpp"
#include "program/operators/schema.hpp"

namespace kw {
namespace {

using Json = nlohmann::ordered_json;

Json symbolic_shape(const Shape& shape) {
  auto json = Json::array();
  for (const auto& extent : shape) json.push_back(extent.text());
  return json;
}

Json type_json(const TensorType& type) {
  return {{"dtype", to_string(type.dtype)}, {"shape", values_of(type.shape)}, {"symbolic", symbolic_shape(type.shape)}};
}

Json argument_json(const Argument& argument) {
  struct Writer {
    Json operator()(std::monostate) const { return nullptr; }
    Json operator()(const ValueRef& tensor) const { return {{"value", tensor.value}}; }
    Json operator()(const std::vector<ValueRef>& tensors) const {
      auto json = Json::array();
      for (const auto& one : tensors) json.push_back((*this)(one));
      return json;
    }
    Json operator()(bool truth) const { return truth; }
    Json operator()(const Extent& integer) const { return integer.value(); }
    Json operator()(double real) const { return real; }  // infinite: null
    Json operator()(const std::string& text) const { return text; }
    Json operator()(const Shape& list) const { return values_of(list); }
    Json operator()(ElementType type) const { return to_string(type); }
  };
  return {{"name", argument.name}, {"value", std::visit(Writer{}, argument.value)}, {"default", argument.is_default}};
}

Json node_json(const Graph& graph, const Node& node) {
  Json json = {{"op", node.op}, {"line", node.where.line}, {"module", node.module}, {"random", node.random}};
  json["arguments"] = Json::array();
  for (const auto& argument : node.arguments) json["arguments"].push_back(argument_json(argument));
  json["outputs"] = Json::array();
  for (const auto value : node.outputs) {
    auto output = type_json(graph.values[value].type);
    output["value"] = value;
    json["outputs"].push_back(std::move(output));
  }
  return json;
}

Json drawn_json(const std::optional<ElementDistribution>& distribution) {
  return distribution ? Json(distribution->text()) : Json(nullptr);
}

std::string_view kind_name(ParameterKind kind) {
  return kind == ParameterKind::parameter ? "parameter" : kind == ParameterKind::buffer ? "buffer" : "unsaved";
}

}  // namespace

std::string program_json(const Program& program) {
  Json json = {{"name", program.name}, {"mode", to_string(program.mode)}};
  for (const auto* key : {"inputs", "parameters", "nodes"}) json[key] = Json::array();
  json["axes"] = Json::object();
  for (const auto& axis : program.axes) json["axes"][axis.name] = axis.extent;
  for (const auto& input : program.inputs) {
    Json one = input.type ? type_json(*input.type) : Json{{"number", input.number}};
    one["name"] = input.name;
    one["distribution"] = drawn_json(input.distribution);
    if (input.type) one["value"] = input.value;
    json["inputs"].push_back(std::move(one));
  }
  for (const auto& parameter : program.parameters) {
    auto one = type_json(parameter.type);
    one["name"] = parameter.name;
    one["kind"] = kind_name(parameter.kind);
    one["distribution"] = drawn_json(parameter.distribution);
    one["value"] = parameter.value ? Json(*parameter.value) : Json(nullptr);
    json["parameters"].push_back(std::move(one));
  }
  for (const auto& node : program.graph.nodes) json["nodes"].push_back(node_json(program.graph, node));
  json["outputs"] = program.outputs;
  const auto cost = cost_of(program);
  json["product_flops"] = cost.product_flops;
  json["bytes"] = {{"inputs", cost.input_bytes}, {"parameters", cost.parameter_bytes}, {"outputs", cost.output_bytes}};
  // Names may hold any byte that stands in a string of the file.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace kw
