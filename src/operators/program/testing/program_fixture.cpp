#include "operators/program/testing/program_fixture.hpp"

#include <algorithm>

#include "operators/program/program_detail.hpp"

namespace kw::program_test {
namespace {

DType stored_type(ElementType type) {
  if (type == ElementType::boolean) return DType::boolean;
  if (type == ElementType::float16) return DType::f16;
  if (type == ElementType::bfloat16) return DType::bf16;
  return is_floating(type) ? DType::f32 : DType::i32;
}

TensorSpec tensor_spec(Problem& problem, const Program& program, const std::string& name, std::size_t value) {
  TensorSpec spec;
  spec.name = name;
  const auto& type = program.graph.values[value].type;
  spec.dtype = stored_type(type.dtype);
  for (std::size_t i = 0; i < type.shape.size(); ++i) {
    const auto text = type.shape[i].text();
    const bool axis =
        std::any_of(program.axes.begin(), program.axes.end(), [&](const ProgramAxis& one) { return one.name == text; });
    if (!axis) problem.derived_axes.push_back({fmt::format("{}_{}", name, i), text});
    spec.axes.push_back(axis ? text : problem.derived_axes.back().name);
    if (!axis) problem.workloads[0].axes[spec.axes.back()] = type.shape[i].value();
  }
  return spec;
}

}  // namespace

Problem problem_of(const Program& program) {
  Problem problem;
  problem.name = "program/" + program.name;
  problem.op = "program";
  problem.workloads = {{"primary", WorkloadRole::primary, {}}};
  for (const auto& axis : program.axes) problem.workloads[0].axes[axis.name] = axis.extent;
  auto detail = std::make_shared<ProgramDetail>();
  detail->program = program;
  const auto add_input = [&](std::string name, std::size_t value) {
    std::replace(name.begin(), name.end(), '.', '_');
    problem.inputs.push_back(tensor_spec(problem, program, name, value));
    detail->inputs.push_back(value);
  };
  for (const auto& input : program.inputs) {
    if (input.type) add_input(input.name, input.value);
  }
  for (const auto& parameter : program.parameters) {
    if (parameter.value) add_input(parameter.name, *parameter.value);
  }
  for (std::size_t i = 0; i < program.outputs.size(); ++i) {
    const auto name = program.outputs.size() == 1 ? "out" : fmt::format("out{}", i);
    problem.outputs.push_back(tensor_spec(problem, program, name, program.outputs[i]));
  }
  detail->outputs = program.outputs;
  problem.detail = std::move(detail);
  return problem;
}

}  // namespace kw::program_test
