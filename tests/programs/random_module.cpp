#include "tests/programs/random_module.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/text.hpp"
#include "tests/programs/module_drawing.hpp"

namespace kw {
namespace {

/// Every value that the results follow from.
std::vector<bool> needed_values(const RandomModule& module) {
  std::vector<bool> needed(module.values.size(), false);
  for (const auto result : module.results()) needed[result] = true;
  for (std::size_t i = module.values.size(); i-- > 0;) {
    if (!needed[i]) continue;
    for (const auto operand : module.values[i].operands) needed[operand] = true;
  }
  return needed;
}

/// "randint(0, 5" and the like end with their own arguments; the shape goes last.
std::string drawn_input(const ModuleValue& value) {
  const bool integers = value.text.find('(') != std::string::npos;
  return integers ? fmt::format("{}, ({}))", value.text, shape_list(value.shape) + ",")
                  : fmt::format("{}({})", value.text, value.shape.empty() ? "()" : shape_list(value.shape));
}

/// Whether the axis's name stands in the file as a word, beside where it is given its extent.
bool uses_axis(const std::string& file, const std::string& name) {
  int found = 0;
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (auto at = file.find(name); at != std::string::npos; at = file.find(name, at + 1)) {
    if (!is_word(file[at - 1]) && !is_word(file[at + name.size()])) ++found;
  }
  return found > 1;
}

std::string with_replaced(std::string text, const std::string& mark, const std::string& by) {
  for (auto at = text.find(mark); at != std::string::npos; at = text.find(mark, at + by.size())) {
    text.replace(at, mark.size(), by);
  }
  return text;
}

std::string with_operands(const std::string& text, const ModuleValue& value, std::size_t index) {
  std::string result = with_replaced(text, "{s}", fmt::format("self.m{}", index));
  for (std::size_t i = 0; i < value.operands.size(); ++i) {
    result = with_replaced(result, fmt::format("{{{}}}", i), fmt::format("v{}", value.operands[i]));
  }
  return result;
}

}  // namespace

std::string shape_list(const std::vector<ModuleDim>& shape) {
  std::vector<std::string> texts;
  for (const auto& dim : shape) texts.push_back(dim.text);
  return join(texts);
}

std::vector<std::size_t> RandomModule::results() const {
  if (!outputs.empty()) return outputs;
  std::vector<bool> read(values.size(), false);
  for (const auto& value : values) {
    for (const auto operand : value.operands) read[operand] = true;
  }
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!read[i] && !values[i].is_input) found.push_back(i);
  }
  return found;
}

std::string RandomModule::to_python() const {
  const auto needed = needed_values(*this);
  std::string members, arguments, statements, inputs, names;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto& value = values[i];
    if (!needed[i]) continue;
    if (value.is_input) {
      arguments += fmt::format(", v{}", i);
      inputs += (inputs.empty() ? "" : ", ") + drawn_input(value);
      continue;
    }
    for (std::size_t k = 0; k < value.members.size(); ++k) {
      members += fmt::format("        self.m{}_{} = {}\n", i, k, value.members[k]);
    }
    statements += fmt::format("        v{} = {}\n", i, with_operands(value.text, value, i));
  }
  for (const auto result : results()) names += fmt::format("{}v{}", names.empty() ? "" : ", ", result);
  std::string sizes;
  for (const auto& axis : axes) sizes += fmt::format("{} = {}\n", axis.name, axis.extent);
  return fmt::format(
      "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n{}"
      "class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n{}"
      "    def forward(self{}):\n{}        return {}\n"
      "def get_inputs():\n    return [{}]\n",
      sizes, members, arguments, statements, names, inputs);
}

namespace {

/// An argument in place of the statement, with the same shape and elements like it.
RandomModule cut(RandomModule module, std::size_t value) {
  ModuleValue& one = module.values[value];
  one = {"torch.randn", {}, {}, one.shape, true, ModuleElements::exact, one.most};
  return module;
}

/// Readers of `value` read `other`.
RandomModule redirected(RandomModule module, std::size_t value, std::size_t other) {
  for (auto& one : module.values) {
    for (auto& operand : one.operands) operand = operand == value ? other : operand;
  }
  for (auto& output : module.outputs) output = output == value ? other : output;
  return module;
}

std::vector<RandomModule> with_fewer_results(const RandomModule& module) {
  std::vector<RandomModule> variants;
  const auto results = module.results();
  for (const auto result : results) {
    RandomModule one = module;
    one.outputs = {result};
    if (results.size() > 1) variants.push_back(one);
    for (const auto operand : module.values[result].operands) {
      if (module.values[operand].is_input) continue;
      one.outputs = {operand};
      variants.push_back(one);
    }
  }
  return variants;
}

}  // namespace

std::vector<RandomModule> smaller(const RandomModule& module) {
  auto variants = with_fewer_results(module);
  const auto needed = needed_values(module);
  const auto results = module.results();
  for (std::size_t i = module.values.size(); i-- > 0;) {
    const auto& value = module.values[i];
    if (!needed[i] || value.is_input || std::find(results.begin(), results.end(), i) != results.end()) continue;
    variants.push_back(cut(module, i));
    variants.back().outputs = results;
    for (const auto operand : value.operands) {
      if (shape_list(module.values[operand].shape) != shape_list(value.shape)) continue;
      variants.push_back(redirected(module, i, operand));
      variants.back().outputs = results;
    }
  }
  const std::string file = module.to_python();
  for (std::size_t i = 0; i < module.axes.size(); ++i) {
    const auto extent = module.axes[i].extent;
    for (const std::int64_t less : {std::int64_t{1}, std::int64_t{2}, extent / 2, extent - 1}) {
      if (less < 1 || less >= extent || !uses_axis(file, module.axes[i].name)) continue;
      variants.push_back(module);
      variants.back().axes[i].extent = less;
      variants.back().as_drawn = false;
    }
  }
  return variants;
}

}  // namespace kw
