// What rows of a convolution cost the oracle, on one thread. Items are products of two elements: before a search tries
// its first candidate on a network of convolutions, it waits for thousands of millions of them.

#include <benchmark/benchmark.h>

#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "operators/program/oracle/oracle.hpp"
#include "program/reader/program_reader.hpp"

namespace kw {
namespace {

/// A convolution and the rows of its result that are asked for.
struct ConvolutionCase {
  const char* call;       ///< of x and of self.weight
  const char* input;      ///< extents
  const char* weight;     ///< likewise
  std::int64_t products;  ///< of an element of the result, where no tap falls beside the input
};

const ConvolutionCase k_cases[] = {
    {"F.conv2d(x, self.weight, padding=1)", "4, 64, 64, 64", "64, 64, 3, 3", 64 * 9},
    {"F.conv2d(x, self.weight)", "4, 256, 28, 28", "64, 256, 1, 1", 256},
    {"F.conv2d(x, self.weight, stride=2, padding=3)", "4, 16, 112, 112", "32, 16, 7, 7", 16 * 49},
    {"F.conv3d(x, self.weight)", "2, 16, 16, 32, 32", "16, 16, 3, 3, 3", 16 * 27},
    {"F.conv_transpose3d(x, self.weight)", "2, 64, 8, 32, 32", "64, 16, 5, 5, 5", 64 * 125},
    {"F.conv_transpose2d(x, self.weight, stride=2, padding=1)", "2, 64, 32, 32", "64, 32, 3, 3", 64 * 9 / 4},
    {"F.conv2d(F.relu(x), self.weight, padding=1)", "4, 64, 64, 64", "64, 64, 3, 3", 64 * 9},
};

Program program_of(const ConvolutionCase& one) {
  const std::string text = std::string(
                               "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"
                               "class Model(nn.Module):\n"
                               "    def __init__(self):\n"
                               "        super().__init__()\n"
                               "        self.weight = nn.Parameter(torch.randn(") +
                           one.weight + "))\n    def forward(self, x):\n        return " + one.call +
                           "\ndef get_inputs():\n    return [torch.rand(" + one.input +
                           ")]\ndef get_init_inputs():\n    return []\n";
  auto program = read_program(text, "convolution.py");
  KW_CHECK(program.has_value(), "{}", program.error().to_string());
  return *std::move(program);
}

std::vector<float> numbers(const TensorType& type) {
  std::vector<float> values(static_cast<std::size_t>(element_count(type.shape)->value()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 37 % 17) / 16.0F - 0.5F;
  return values;
}

void oracle_rows_of_convolution(benchmark::State& state) {
  const ConvolutionCase& one = k_cases[state.range(0)];
  const Program program = program_of(one);
  const auto type_of = [&](std::size_t value) { return program.graph.values[value].type; };
  const std::vector<float> input = numbers(type_of(program.inputs.front().value));
  const std::vector<float> weight = numbers(type_of(*program.parameters.front().value));
  std::map<std::size_t, LeafElements> leaves;
  leaves.emplace(program.inputs.front().value, LeafElements(input));
  leaves.emplace(*program.parameters.front().value, LeafElements(weight));
  const TensorType result = type_of(program.outputs.front());
  const std::int64_t length = result.shape.back().value();
  const std::int64_t rows = element_count(result.shape)->value() / length;
  WantedElements wanted{program.outputs.front(), {}};
  constexpr std::int64_t k_rows = 32;
  for (std::int64_t i = 0; i < k_rows; ++i) {
    const std::int64_t row = i * (rows - 1) / (k_rows - 1);
    for (std::int64_t x = 0; x < length; ++x) wanted.elements.push_back(row * length + x);
  }
  for (auto _ : state) {
    auto answers = evaluate_elements(program.graph, leaves, std::vector{wanted});
    KW_CHECK(answers.has_value(), "{}", answers.error().to_string());
    benchmark::DoNotOptimize(answers);
  }
  state.SetItemsProcessed(state.iterations() * k_rows * length * one.products);
  state.SetLabel(std::string(one.call) + " of " + one.input);
}
BENCHMARK(oracle_rows_of_convolution)->DenseRange(0, std::ssize(k_cases) - 1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace kw
