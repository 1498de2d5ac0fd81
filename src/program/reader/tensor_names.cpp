// Names of tensors that modules hold, as in state_dict().

#include <algorithm>

#include "program/reader/interpreter.hpp"

namespace kw {

void PyInterpreter::name_tensor(const std::string& name, const TensorBox& tensor, ParameterKind kind) {
  if (!tensor.in_sources) return;
  leaves_.try_emplace(tensor.value, Leaf{program_.parameters.size(), std::nullopt});
  Parameter parameter;
  parameter.name = name;
  parameter.kind = kind;
  parameter.type = program_.sources.values[tensor.value].type;
  parameter.source = tensor.value;
  parameter.created = tensor.created;
  parameter.distribution = distribution_of(program_.sources, tensor.value);
  program_.parameters.push_back(std::move(parameter));
}

/// In the order of state_dict(): parameters, buffers, then what submodules hold.
void PyInterpreter::name_module(PyObject& object, const std::string& prefix, int depth) {
  constexpr int k_deepest = 32;
  constexpr std::size_t k_most = 16384;
  if (depth > k_deepest || program_.parameters.size() > k_most) return;
  paths_.try_emplace(&object, prefix);
  const auto path = [&](const std::string& name) { return prefix.empty() ? name : prefix + "." + name; };
  const auto listed_in = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  for (const auto& [name, value] : object.attributes) {
    const auto* tensor = value.object<TensorBox>();
    if (tensor != nullptr && tensor->is_parameter) name_tensor(path(name), *tensor, ParameterKind::parameter);
  }
  for (const auto& [name, value] : object.attributes) {
    const auto* tensor = value.object<TensorBox>();
    if (tensor == nullptr || tensor->is_parameter) continue;
    const bool saved = listed_in(object.buffers, name) && !listed_in(object.unsaved, name);
    name_tensor(path(name), *tensor, saved ? ParameterKind::buffer : ParameterKind::unsaved);
  }
  for (const auto& [name, value] : object.attributes) {
    if (is_module(value)) name_module(*value.object<PyObject>(), path(name), depth + 1);
  }
}

void PyInterpreter::name_tensors(PyObject& root) {
  name_module(root, "", 0);
  std::stable_partition(program_.parameters.begin(), program_.parameters.end(),
                        [](const Parameter& one) { return one.kind != ParameterKind::unsaved; });
  leaves_.clear();
  for (std::size_t i = 0; i < program_.parameters.size(); ++i)
    leaves_.try_emplace(program_.parameters[i].source, Leaf{i, std::nullopt});
}

}  // namespace kw
