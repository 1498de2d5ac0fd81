#include "program/testing/module_text.hpp"

#include <fmt/format.h>

#include "program/operators/schema.hpp"

namespace kw::program_test {
namespace {

std::string indented(const std::string& text) {
  std::string result = "        ";
  for (const char c : text) {
    result += c;
    if (c == '\n') result += "        ";
  }
  return result;
}

}  // namespace

std::string module_text(const std::string& forward, const std::string& inputs, const std::string& init) {
  return fmt::format(
      "import math\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"
      "class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n{}\n"
      "    def forward(self, x, *more):\n{}\n"
      "def get_inputs():\n    return [{}]\n",
      indented(init), indented(forward), inputs);
}

std::string shape_of(const std::string& forward, const std::string& inputs, const std::string& init) {
  const auto program = read_program(module_text(forward, inputs, init), "m.py");
  if (!program) return program.error().to_string();
  return argument_text(program->graph.values[program->outputs.front()].type.shape);
}

}  // namespace kw::program_test
