#include "suite/model_new.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/text.hpp"
#include "language/c_names.hpp"
#include "language/kernel_headers.hpp"
#include "suite/model_new_runtime.hpp"

namespace kw {
namespace {

/// A Python string literal; JSON's are all such.
std::string python_text(std::string_view text) {
  return nlohmann::json(std::string(text)).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

/// Infinities and NaN have no literals.
std::string python_number(double value) {
  return std::isfinite(value) ? fmt::format("{}", value) : fmt::format("float(\"{}\")", value);
}

/// As it is where a raw string can hold it, because people read kernels.
std::string python_source(std::string_view text) {
  const bool raw = text.find("'''") == std::string_view::npos && !text.ends_with('\\') && !text.ends_with('\'');
  return raw ? fmt::format("r'''{}'''", text) : python_text(text);
}

std::string_view torch_type(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return "torch.float32";
    case DType::f16:
      return "torch.float16";
    case DType::i32:
      return "torch.int32";
    case DType::boolean:
      return "torch.bool";
    case DType::bf16:
      break;
  }
  return "torch.bfloat16";
}

/// What forward() itself gives, where kernels store another type.
std::string torch_type_of(ElementType type) {
  return type == ElementType::boolean ? "torch.bool" : fmt::format("torch.{}", to_string(type));
}

/// "layers.0.weight" as kernels name it.
std::string tensor_name(std::string_view name) {
  std::string text;
  for (const char c : name) {
    const bool kept = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    text += kept ? c : '_';
  }
  return text;
}

bool may_be_named(const std::string& tensor, std::string_view origin) {
  const std::string name = tensor_name(origin);
  return tensor.starts_with(name) && tensor.find_first_not_of('_', name.size()) == std::string::npos;
}

/// forward's argument "x", or "xs.0" of a list.
std::string argument_expression(const std::string& name) {
  std::string expression = "given";
  std::size_t begin = 0;
  for (bool first = true; begin <= name.size(); first = false) {
    const std::size_t end = std::min(name.find('.', begin), name.size());
    const std::string part = name.substr(begin, end - begin);
    expression += first ? fmt::format("[{}]", python_text(part)) : fmt::format("[{}]", part);
    begin = end + 1;
  }
  return expression;
}

/// Where a tensor of the problem comes from in Python.
struct Origin {
  std::string name;
  std::string expression;
};

/// A tensor that forward() itself makes has no name in the module. Empty where it is no single number.
std::string made_in_forward(const Parameter& parameter) {
  const auto& rule = parameter.distribution;
  if (!rule || rule->kind != ElementDistribution::Kind::constant) return "";
  std::string shape;
  for (const auto& extent : parameter.type.shape) shape += fmt::format("{}, ", extent.value());
  return fmt::format("torch.full(({}), {})", shape, python_number(rule->first));
}

std::string held_expression(const Parameter& parameter) {
  const bool unnamed = parameter.kind == ParameterKind::unsaved && parameter.name.starts_with("constant_");
  return unnamed ? made_in_forward(parameter) : fmt::format("_kw_held(self, {})", python_text(parameter.name));
}

std::vector<Origin> origins_of(const Program& program) {
  std::vector<Origin> origins;
  for (const auto& input : program.inputs) {
    if (input.type) origins.push_back({input.name, argument_expression(input.name)});
  }
  for (const auto& parameter : program.parameters) {
    if (parameter.value) origins.push_back({parameter.name, held_expression(parameter)});
  }
  return origins;
}

std::string shape_text(const TensorSpec& tensor, const Axes& axes) {
  std::string text = "(";
  for (const auto& axis : tensor.axes) text += fmt::format("{}, ", axes.at(axis));
  return text + ")";
}

/// The problem's inputs come in the order of the module's tensors, of which those that nothing reads are left out.
Result<std::string> inputs_text(const ModelNewRequest& request) {
  std::string text;
  const auto origins = origins_of(request.program);
  auto origin = origins.begin();
  for (const auto& tensor : request.problem.inputs) {
    origin =
        std::find_if(origin, origins.end(), [&](const Origin& one) { return may_be_named(tensor.name, one.name); });
    if (origin == origins.end()) {
      return fail(Error{errc::suite_export, fmt::format("{} is no tensor of the module", tensor.name),
                        "export problems that are modules, without --tensor"});
    }
    if (origin->expression.empty()) {
      return fail(Error{errc::suite_export, fmt::format("forward() itself makes the tensor {}", tensor.name),
                        "make it in __init__, as an attribute of the module"});
    }
    text += fmt::format("            _kw_input({}, {}, {}, {}),\n", python_text(tensor.name), origin->expression,
                        torch_type(tensor.dtype), shape_text(tensor, request.axes));
    ++origin;
  }
  return text;
}

std::string numbers_text(const Program& program) {
  std::string text;
  for (const auto& input : program.inputs) {
    if (input.type) continue;
    text += fmt::format("        _kw_number({}, {}, {})\n", python_text(input.name), argument_expression(input.name),
                        python_number(input.number));
  }
  return text;
}

std::string outputs_text(const ModelNewRequest& request) {
  std::string text;
  for (const auto& tensor : request.problem.outputs) {
    text += fmt::format("            ({}, {}),\n", torch_type(tensor.dtype), shape_text(tensor, request.axes));
  }
  return text;
}

/// Which element types forward() gives.
std::string result_text(const ModelNewRequest& request) {
  const Program& program = request.program;
  std::vector<std::string> results;
  for (std::size_t i = 0; i < program.outputs.size(); ++i) {
    const auto type = program.graph.values[program.outputs[i]].type.dtype;
    results.push_back(fmt::format("outputs[{}].to({})", i, torch_type_of(type)));
  }
  return results.size() == 1 ? results.front() : fmt::format("({})", join(results));
}

std::string argument_text(const KernelArg& argument) {
  if (const auto* buffer = std::get_if<BufferArg>(&argument)) return fmt::format("buffers[{}]", buffer->buffer);
  return fmt::format("{}", std::get<IntArg>(argument).value);
}

std::string launches_text(const LaunchPlan& plan) {
  std::string text;
  for (const auto& launch : plan.launches) {
    text += fmt::format("        _kw_launch({}, ({}, {}, {}), ({}, {}, {}), {}, [{}])\n", python_text(launch.kernel),
                        launch.grid[0], launch.grid[1], launch.grid[2], launch.block[0], launch.block[1],
                        launch.block[2], launch.shared_bytes, join(launch.args, ", ", argument_text));
  }
  return text;
}

std::string scratch_text(const LaunchPlan& plan) {
  std::string text;
  for (const auto& buffer : plan.buffers) {
    if (buffer.role == BufferRole::scratch) text += fmt::format("{}, ", buffer.bytes);
  }
  return text;
}

std::string definitions_text(const IntBindings& definitions) {
  std::string text;
  for (const auto& [name, value] : definitions) text += python_text(fmt::format("-D{}={}", name, value)) + ", ";
  return text;
}

std::string headers_text() {
  std::string text =
      fmt::format("    \"kernelwright_c_names.h\": {},\n    \"cuda_runtime.h\": \"\",\n", python_source(k_c_names));
  for (const auto header : k_c_headers) text += fmt::format("    {}: \"\",\n", python_text(header));
  return text;
}

}  // namespace

Result<std::string> model_new_text(const ModelNewRequest& request) {
  KW_TRY(const std::string inputs, inputs_text(request));
  std::string text = "# Written by kernelwright. The module as it was given, and ModelNew, which runs a CUDA kernel.\n";
  for (const auto& comment : request.comments) text += "# " + on_one_line(comment) + "\n";
  text += request.module_text;
  if (!text.ends_with('\n')) text += '\n';
  text += fmt::format("\n\n_kw_source = {}\n\n_kw_headers = {{\n{}}}\n_kw_definitions = [{}]\n{}",
                      python_source(request.bundle.source), headers_text(), definitions_text(request.definitions),
                      k_model_new_runtime);
  text += fmt::format(
      "\n\nclass ModelNew({0}):\n"
      "    def forward(self, *args, **kwargs):\n"
      "        given = _kw_bound({0}.forward, self, args, kwargs)\n"
      "{1}"
      "        inputs = [\n{2}        ]\n"
      "        outputs = [_kw_empty(inputs, *one) for one in [\n{3}        ]]\n"
      "        scratch = [_kw_empty(inputs, torch.uint8, (size,)) for size in [{4}]]\n"
      "        buffers = inputs + outputs + scratch\n"
      "{5}"
      "        return {6}\n",
      request.program.name, numbers_text(request.program), inputs, outputs_text(request), scratch_text(request.plan),
      launches_text(request.plan), result_text(request));
  return text;
}

}  // namespace kw
