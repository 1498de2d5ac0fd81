#include "codegen/attention_text.hpp"

#include <fmt/format.h>

#include "codegen/codegen.hpp"
#include "codegen/text.hpp"

namespace kw {

Result<const AttentionSpec*> f32_attention(const Problem& problem, std::string_view style) {
  const AttentionSpec* attention = problem.attention();
  if (attention == nullptr)
    return fail(errc::codegen_unsupported, "style \"{}\" writes attention, and \"{}\" is a problem of operator \"{}\"",
                style, problem.name, problem.op);
  if (attention->dtype != DType::f32) {
    Error error{errc::codegen_unsupported, fmt::format("style \"{}\" writes f32 kernels, and \"{}\" asks for {}", style,
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
  const AttentionSpec* attention = problem.attention();
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

std::vector<std::string> axis_parameters(const std::set<std::string>& axes) {
  std::vector<std::string> names;
  for (const std::string& name : axes)
    if (name != "D" && name != "Dv") names.push_back(name);
  return names;
}

std::vector<std::string> as_int_parameters(const std::vector<std::string>& names) {
  std::vector<std::string> parameters;
  for (const std::string& name : names) parameters.push_back("const int " + name);
  return parameters;
}

ModFunctionText mod_function(const ModFunction& mod, ExprId node, const ModFunctionShape& shape) {
  const OpenClExpr printed(mod, {{node, ExprStage::element}}, {});
  std::vector<std::string> parameters;
  if (shape.takes_score) parameters.emplace_back("const float score");
  for (const char* index : {"b", "h", "q_idx"}) parameters.push_back(fmt::format("const int {}", index));
  if (shape.takes_key) parameters.emplace_back("const int kv_idx");
  ModFunctionText text;
  text.axes = axis_parameters(printed.axes());
  for (const std::string& parameter : as_int_parameters(text.axes)) parameters.push_back(parameter);
  text.helpers = printed.helpers();
  text.definition = parameter_list(fmt::format("static inline {} {}(", shape.result, shape.name), parameters) + " {\n";
  for (const std::string& statement : printed.statements(ExprStage::element))
    text.definition += "  " + statement + "\n";
  text.definition += fmt::format("  return {};\n}}\n", without_parentheses(printed.text(node)));
  return text;
}

}  // namespace kw
