#include "operators/attention/kernels/text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/codegen.hpp"
#include "codegen/text.hpp"
#include "operators/attention/attention.hpp"

namespace kw {

Result<const AttentionSpec*> float_attention(const Problem& problem, std::string_view style) {
  const AttentionSpec* attention = attention_of(problem);
  if (attention == nullptr)
    return fail(errc::codegen_unsupported, "style \"{}\" writes attention, and \"{}\" is a problem of operator \"{}\"",
                style, problem.name, problem.op);
  if (attention->dtype != DType::f32 && !is_16_bit_float(attention->dtype)) {
    Error error{errc::codegen_unsupported,
                fmt::format("style \"{}\" writes kernels for f32, f16 and bf16, and \"{}\" asks for {}", style,
                            problem.name, to_string(attention->dtype))};
    error.hint = "set dtype = \"f32\" in the problem";
    return fail(std::move(error));
  }
  return attention;
}

std::string source_comment(const Problem& problem, const std::string& generator,
                           const std::vector<std::string>& notes) {
  std::string text = as_comment(
      fmt::format("{}: {}\nWritten by kernelwright, generator \"{}\".", problem.name, problem.description, generator));
  const AttentionSpec* attention = attention_of(problem);
  for (const auto* mod : {&attention->score_mod, &attention->mask_mod}) {
    if (!mod->has_value()) continue;
    const char* role = mod == &attention->score_mod ? "score_mod" : "mask_mod";
    text += fmt::format("\n//\n// {}:\n", role);
    std::string_view source = (*mod)->source;
    while (!source.empty() && (source.back() == '\n' || source.back() == ' ')) source.remove_suffix(1);
    while (!source.empty() && source.front() == '\n') source.remove_prefix(1);
    text += as_comment(source);
  }
  if (!notes.empty()) text += "\n//\n" + as_comment(join_lines(notes));
  return text;
}

std::string scale_text(const AttentionSpec& attention) {
  return attention.scale ? float_literal(*attention.scale) : "1.0f / sqrt((float)HEAD_DIM)";
}

std::int64_t choice_of(const std::vector<Tunable>& choices, const IntBindings& structure, std::string_view name) {
  if (const auto found = structure.find(name); found != structure.end()) return found->second;
  for (const Tunable& tunable : choices)
    if (tunable.name == name) return tunable.default_value;
  KW_CHECK(false, "no structural choice {}", name);
  return 0;
}

Result<void> check_choices(std::string_view style, const std::vector<Tunable>& choices, const IntBindings& structure) {
  for (const auto& entry : structure) {
    const auto found =
        std::find_if(choices.begin(), choices.end(), [&](const Tunable& t) { return t.name == entry.first; });
    if (found == choices.end())
      return fail(errc::codegen_unsupported, "style \"{}\" has no structural choice \"{}\"", style, entry.first);
    if (std::find(found->values.begin(), found->values.end(), entry.second) == found->values.end())
      return fail(errc::codegen_unsupported, "structural choice {} of style \"{}\" cannot be {}; it is one of {}",
                  entry.first, style, entry.second, fmt::join(found->values, ", "));
  }
  return {};
}

void OuterNames::include(const KernelExpr& printed) {
  for (const std::string& axis : printed.axes())
    if (axis != "D" && axis != "Dv") axes.insert(axis);
  captures.insert(printed.captures().begin(), printed.captures().end());
}

void OuterNames::include(const OuterNames& other) {
  axes.insert(other.axes.begin(), other.axes.end());
  captures.insert(other.captures.begin(), other.captures.end());
}

std::vector<std::string> OuterNames::parameters() const {
  std::vector<std::string> parameters;
  for (const auto& [name, capture] : captures) parameters.push_back(capture.declaration(name));
  for (const std::string& axis : axes) parameters.push_back("const int " + kernel_name(axis));
  return parameters;
}

std::vector<std::string> OuterNames::arguments() const {
  std::vector<std::string> arguments;
  for (const auto& entry : captures) arguments.push_back(kernel_name(entry.first));
  for (const std::string& axis : axes) arguments.push_back(kernel_name(axis));
  return arguments;
}

std::string free_buffer_name(const Problem& problem, const std::string& wanted) {
  const auto& axes = problem.primary().axes;
  const auto has_name = [&](const TensorSpec& tensor) { return tensor.name == wanted; };
  const bool taken = axes.count(wanted) > 0 || std::any_of(problem.inputs.begin(), problem.inputs.end(), has_name) ||
                     std::any_of(problem.outputs.begin(), problem.outputs.end(), has_name);
  return taken ? free_buffer_name(problem, wanted + "_") : wanted;
}

void KernelParameters::add(const std::string& declaration, const std::string& argument) {
  declarations_.push_back(declaration);
  arguments_.push_back(argument);
}

void KernelParameters::add_tensor(DType dtype, bool writable, const std::string& name, const std::string& buffer) {
  add(buffer_parameter(dtype, writable, name, dialect_), buffer.empty() ? name : buffer);
}

void KernelParameters::add_axis(const std::string& axis) {
  add("const int " + kernel_name(axis), axis);
}

void KernelParameters::add_captures(const CaptureParameters& captures) {
  for (const auto& [name, capture] : captures) add(capture.declaration(name), name);
}

void KernelParameters::add_axes(const std::set<std::string>& axes) {
  for (const std::string& axis : axes)
    if (std::find(arguments_.begin(), arguments_.end(), axis) == arguments_.end()) add_axis(axis);
}

std::string KernelParameters::signature(const std::string& kernel) const {
  constexpr std::size_t k_columns = 118;  // leaves room for the brace
  return parameter_list(fmt::format("void {}(", kernel), declarations_, k_columns);
}

ModFunctionText mod_function(const ModFunction& mod, ExprId node, const ModFunctionShape& shape) {
  const KernelExpr printed(mod, {{node, ExprStage::element}}, {false, "t", false, false, shape.dialect});
  std::vector<std::string> parameters;
  if (shape.takes_score) parameters.emplace_back("const float score");
  for (const char* index : {"b", "h", "q_idx"}) parameters.push_back(fmt::format("const int {}", index));
  if (shape.takes_key) parameters.emplace_back("const int kv_idx");
  ModFunctionText text;
  text.names.include(printed);
  for (const std::string& parameter : text.names.parameters()) parameters.push_back(parameter);
  text.helpers = printed.helpers();
  text.definition =
      parameter_list(fmt::format("{} {} {}(", shape.dialect->function_qualifier, shape.result, shape.name),
                     parameters) +
      " {\n";
  for (const std::string& statement : printed.statements(ExprStage::element))
    text.definition += "  " + statement + "\n";
  text.definition +=
      fmt::format("  {}\n}}\n", broken_statement(fmt::format("return {};", without_parentheses(printed.text(node)))));
  return text;
}

PrintedMod printed_mod(const std::optional<ModFunction>& mod, const ModFunctionShape& shape, OuterNames& names,
                       std::set<KernelHelper>& helpers) {
  if (!mod) return {};
  const ModFunctionText text = mod_function(*mod, mod->root, shape);
  std::vector<std::string> arguments;
  if (shape.takes_score) arguments.emplace_back("score");
  for (const char* index : {"b", "h", "q_idx", "kv_idx"}) arguments.emplace_back(index);
  for (const std::string& name : text.names.arguments()) arguments.push_back(name);
  names.include(text.names);
  helpers.insert(text.helpers.begin(), text.helpers.end());
  return {text.definition, parameter_list(shape.name + "(", arguments)};
}

}  // namespace kw
