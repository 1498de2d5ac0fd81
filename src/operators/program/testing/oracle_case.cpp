#include "operators/program/testing/oracle_case.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/testing/no_numbers_in_memory.hpp"
#include "program/testing/module_text.hpp"

namespace kw::program_oracle_test {
namespace {

double leaf_element(ElementType type, const std::optional<ElementDistribution>& drawn, std::int64_t i,
                    std::int64_t leaf) {
  const auto integer = (i * 7 + leaf) % 3;
  if (type == ElementType::boolean) return integer == 0 ? 1.0 : 0.0;
  if (!is_floating(type)) return static_cast<double>(integer);
  const auto n = static_cast<double>((i * 37 + leaf * 11) % 17);
  const double least = drawn ? drawn->first : 0.0;
  return least == 1.0 ? (n + 1.0) / 8.0 : least == 2.0 ? (n + 1.0) / 18.0 : (n - 8.0) / 4.0;
}

/// Some elements of each output: every so manieth from one on.
std::vector<WantedElements> some_of(const Program& program, const std::vector<DenseTensor>& whole, std::int64_t first,
                                    std::int64_t step) {
  std::vector<WantedElements> wanted;
  for (std::size_t k = 0; k < whole.size(); ++k) {
    auto& one = wanted.emplace_back();
    one.value = program.outputs[k];
    for (auto i = first; i < std::ssize(whole[k].values); i += step) one.elements.push_back(i);
  }
  return wanted;
}

void expect_near(double answer, double expected, const std::string& where) {
  if (std::isnan(expected) || std::isinf(expected)) {
    EXPECT_TRUE(answer == expected || (std::isnan(answer) && std::isnan(expected)))
        << where << ": " << answer << " instead of " << expected;
    return;
  }
  EXPECT_NEAR(answer, expected, 1e-9 * (1.0 + std::fabs(expected))) << where;
}

}  // namespace

void PrintTo(const OracleCase& one, std::ostream* out) {
  *out << one.forward << " of " << one.inputs;
}

Program program_of(const std::string& forward, const std::string& inputs, const std::string& init) {
  const bool whole_body = forward.find("return ") != std::string::npos;
  const auto body = "y = more[0] if more else None\n" + (whole_body ? "" : std::string("return ")) + forward;
  const auto text = program_test::module_text(body, inputs, init);
  auto program = read_program(text, "m.py");
  EXPECT_TRUE(program.has_value()) << (program ? "" : program.error().to_string());
  return program ? *std::move(program) : Program{};
}

std::map<std::size_t, DenseTensor> leaves_of(const Program& program) {
  std::map<std::size_t, DenseTensor> leaves;
  const auto add = [&](std::size_t value, const std::optional<ElementDistribution>& drawn) {
    const auto& type = program.graph.values[value].type;
    DenseTensor leaf{type.dtype, values_of(type.shape), {}};
    const auto count = element_count(type.shape)->value();
    const auto index = static_cast<std::int64_t>(leaves.size());
    for (std::int64_t i = 0; i < count; ++i) leaf.values.push_back(leaf_element(type.dtype, drawn, i, index));
    leaves.emplace(value, std::move(leaf));
  };
  for (const auto& input : program.inputs) {
    if (input.type) add(input.value, input.distribution);
  }
  for (const auto& parameter : program.parameters) {
    if (!parameter.value) continue;
    // What is written out in the module has these numbers.
    const auto made = evaluate_graph(program.sources, {}, std::vector{parameter.source});
    if (made && parameter.kind == ParameterKind::unsaved) {
      leaves.emplace(*parameter.value, made->front());
    } else {
      add(*parameter.value, parameter.distribution);
    }
  }
  return leaves;
}

void expect_answer(const OracleCase& one) {
  const auto program = program_of(one.forward, one.inputs);
  const auto leaves = leaves_of(program);
  const auto answer = evaluate_graph(program.graph, leaves, program.outputs);
  ASSERT_TRUE(answer.has_value()) << answer.error().to_string();
  std::vector<double> values;
  for (const auto& tensor : *answer) values.insert(values.end(), tensor.values.begin(), tensor.values.end());
  ASSERT_EQ(values.size(), one.expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) expect_near(values[i], one.expected[i], fmt::format("element {}", i));
  expect_elements_are_those_of_the_whole(program, leaves);
}

void expect_elements_are_those_of_the_whole(const Program& program, const std::map<std::size_t, DenseTensor>& leaves) {
  const auto whole = evaluate_graph(program.graph, leaves, program.outputs);
  ASSERT_TRUE(whole.has_value()) << whole.error().to_string();
  std::map<std::size_t, LeafElements> sources;
  for (const auto& [value, leaf] : leaves) {
    sources[value] = [&leaf = leaf](std::int64_t i) { return leaf.values.at(static_cast<std::size_t>(i)); };
  }
  const auto expect = [&](const std::vector<WantedElements>& wanted, OnTheWay on_the_way) {
    const NoNumbersInMemory none;
    const auto elements = evaluate_elements(program.graph, sources, wanted, serial_for, on_the_way);
    ASSERT_TRUE(elements.has_value()) << elements.error().to_string();
    for (std::size_t k = 0; k < whole->size(); ++k) {
      for (std::size_t i = 0; i < wanted[k].elements.size(); ++i) {
        const auto element = wanted[k].elements[i];
        expect_near((*elements)[k][i], (*whole)[k].values[static_cast<std::size_t>(element)],
                    fmt::format("element {} of output {} on demand", element, k));
      }
    }
  };
  for (const auto on_the_way : {OnTheWay::elements, OnTheWay::tensors}) {
    expect(some_of(program, *whole, 0, 1), on_the_way);
    expect(some_of(program, *whole, 0, 5), on_the_way);
    expect(some_of(program, *whole, 3, 7), on_the_way);
  }
}

}  // namespace kw::program_oracle_test
