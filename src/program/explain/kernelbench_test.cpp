// All 200 problems of KernelBench's levels 1 and 2 against facts that were traced with a shape-only stand-in for
// PyTorch.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "program/explain/cost.hpp"
#include "program/operators/schema.hpp"
#include "program/reader/program_reader.hpp"
#include "program/testing/kernelbench_files.hpp"

namespace kw {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;
using program_test::kernelbench_folder;
using program_test::no_kernelbench;
using program_test::text_of_file;

std::string shape_of(const TensorType& type) {
  return Json(values_of(type.shape)).dump();
}

ArgumentValue value_from(const Json& json) {
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_integer()) return Extent(json.get<std::int64_t>());
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  if (json.is_null()) return std::monostate{};
  Shape shape;
  for (const auto& one : json) shape.emplace_back(one.get<std::int64_t>());
  return shape;
}

/// Collects what differs for one problem.
class Comparison {
 public:
  explicit Comparison(const Json& facts) : facts_(facts) {}

  [[nodiscard]] const std::string& differences() const { return differences_; }

  void differs(const std::string& what) { differences_ += "  " + what + "\n"; }

  void operators(const Program& program) {
    const auto& expected = facts_["op_detail"];
    std::string names;
    for (const auto& node : program.graph.nodes) names += node.op + " ";
    std::string wanted;
    for (const auto& op : facts_["ops"]) wanted += op.get<std::string>() + " ";
    if (names != wanted) return differs("operators " + names + "instead of " + wanted);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const auto& node = program.graph.nodes[i];
      const auto shape = shape_of(program.graph.values[node.outputs.front()].type);
      if (shape != expected[i][2].dump()) differs(node.op + " gives " + shape + " instead of " + expected[i][2].dump());
      attributes(node, expected[i][1]);
    }
  }

  void attributes(const Node& node, const Json& expected) {
    std::vector<std::string> named;
    for (const auto& [key, json] : expected.items()) {
      const auto* found = argument(node, key);
      if (found == nullptr) {
        differs(node.op + " has no attribute " + key);
        continue;
      }
      named.push_back(found->name);
      // A module's flag "bias" is a tensor or None in the call.
      const bool flag = found->is_tensor && json.is_boolean();
      const ArgumentValue value =
          flag ? ArgumentValue(!std::holds_alternative<std::monostate>(found->value)) : found->value;
      if (!same_value(value, value_from(json)))
        differs(node.op + "." + key + " is " + argument_text(value) + " instead of " + json.dump());
    }
    for (const auto& one : node.arguments) {
      if (one.is_tensor || one.is_default || std::find(named.begin(), named.end(), one.name) != named.end()) continue;
      // The facts leave out the axes of operators whose result shape tells them, and "training", which they all have.
      constexpr std::string_view k_told_by_shape[] = {"squeeze", "unsqueeze", "transpose", "view"};
      const bool told =
          std::find(std::begin(k_told_by_shape), std::end(k_told_by_shape), node.op) != std::end(k_told_by_shape);
      if (told || one.name == "training") continue;
      differs(node.op + "." + one.name + " is " + argument_text(one.value) + ", and not in the facts");
    }
  }

  void parameters(const Program& program) {
    std::map<std::size_t, std::string> by_creation;  // the facts' order, which state_dict()'s is not
    for (const auto& one : program.parameters) {
      if (one.kind == ParameterKind::parameter) by_creation[one.created] = shape_of(one.type);
    }
    std::string shapes;
    for (const auto& [created, shape] : by_creation) shapes += shape + " ";
    std::string wanted;
    for (const auto& shape : facts_["param_shapes"]) wanted += shape.dump() + " ";
    if (shapes != wanted) differs("parameters " + shapes + "instead of " + wanted);
  }

  void inputs(const Program& program) {
    const auto& expected = facts_["inputs"];
    if (expected.size() != program.inputs.size()) return differs("number of inputs");
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const auto& input = program.inputs[i];
      if (!input.type) {
        if (!expected[i].contains("scalar") || expected[i]["scalar"] != input.number)
          differs("the number " + input.name);
        continue;
      }
      if (shape_of(*input.type) != expected[i]["shape"].dump())
        differs("shape of " + input.name + " " + shape_of(*input.type));
      if (to_string(input.type->dtype) != expected[i]["dtype"].get<std::string>()) differs("dtype of " + input.name);
      // The facts describe no more than plain draws; ours say also how they were scaled.
      const auto text = input.distribution ? input.distribution->text() : std::string();
      if (expected[i]["dist"].is_null() ? text == "uniform[0,1)" : text != expected[i]["dist"].get<std::string>())
        differs("distribution of " + input.name + " " + text);
    }
  }

  void output(const Program& program) {
    const auto& type = program.graph.values[program.outputs.front()].type;
    if (shape_of(type) != facts_["output_shape"].dump()) differs("output " + shape_of(type));
    if (to_string(type.dtype) != facts_["output_dtype"].get<std::string>())
      differs("output dtype " + std::string(to_string(type.dtype)));
  }

  void cost(const Program& program) {
    const auto found = cost_of(program);
    constexpr double k_mib = 1024.0 * 1024.0;
    const std::map<std::string, double> values = {{"gemm_like_gflop", found.product_flops / 1e9},
                                                  {"input_mib", found.input_bytes / k_mib},
                                                  {"param_mib", found.parameter_bytes / k_mib},
                                                  {"output_mib", found.output_bytes / k_mib}};
    for (const auto& [key, value] : values) {
      // The facts are rounded to three decimals, large sizes to two.
      if (std::abs(value - facts_[key].get<double>()) > (key == "input_mib" ? 0.0051 : 0.00051))
        differs(key + " " + std::to_string(value) + " instead of " + facts_[key].dump());
    }
  }

 private:
  /// The facts call an argument "argN" by its position where it was given so, and einsum's equation "eq".
  static const Argument* argument(const Node& node, const std::string& key) {
    if (key.starts_with("arg")) {
      const auto index = static_cast<std::size_t>(std::atoi(key.c_str() + 3));
      return index < node.arguments.size() ? &node.arguments[index] : nullptr;
    }
    return node.find(key == "eq" ? "equation" : key);
  }

  const Json& facts_;
  std::string differences_;
};

TEST(KernelBench, every_problem_is_read_as_the_facts_say) {
  const auto directory = kernelbench_folder();
  if (!fs::exists(directory / "facts.json")) GTEST_SKIP() << no_kernelbench();
  const auto facts = Json::parse(text_of_file(directory / "facts.json"));
  std::size_t agree = 0;
  for (const auto& problem : facts["problems"]) {
    const auto level = "level" + problem["level"].dump();
    const auto name = problem["name"].get<std::string>();
    const auto path = directory / level / (name + ".py");
    ASSERT_TRUE(fs::exists(path)) << path;
    Comparison comparison(problem);
    const auto program = read_program(text_of_file(path), path.filename().string());
    if (!program) {
      comparison.differs(program.error().to_string());
    } else {
      comparison.operators(*program);
      comparison.parameters(*program);
      comparison.inputs(*program);
      comparison.output(*program);
      comparison.cost(*program);
    }
    EXPECT_EQ(comparison.differences(), "") << level << " " << name;
    agree += comparison.differences().empty() ? 1 : 0;
  }
  std::printf("%zu of %zu problems agree in operators, attributes, shapes, parameters, inputs and cost\n", agree,
              facts["problems"].size());
  EXPECT_EQ(agree, facts["problems"].size());
}

}  // namespace
}  // namespace kw
