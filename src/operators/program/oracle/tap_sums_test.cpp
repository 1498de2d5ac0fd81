// Convolutions of rows of all lengths against the sum as it is written, with strides, gaps and padding.

#include "operators/program/oracle/tap_sums.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/rng.hpp"
#include "operators/program/testing/oracle_case.hpp"

namespace kw::program_oracle_test {
namespace {

struct Shape {
  std::int64_t channels, length, taps, stride, padding, dilation;
  bool transposed;

  [[nodiscard]] std::int64_t result() const {
    const auto reach = dilation * (taps - 1);
    return transposed ? (length - 1) * stride - 2 * padding + reach + 1
                      : (length + 2 * padding - reach - 1) / stride + 1;
  }
  [[nodiscard]] std::string call() const {
    return fmt::format("F.conv{}1d(x, y, stride={}, padding={}, dilation={})", transposed ? "_transpose" : "", stride,
                       padding, dilation);
  }
  [[nodiscard]] std::string inputs() const {
    return fmt::format("torch.rand(1, {}, {}), torch.rand({}, {})", channels, length,
                       transposed ? fmt::format("{}, 1", channels) : fmt::format("1, {}", channels), taps);
  }
};

Shape draw(Rng& rng) {
  Shape shape{1 + rng.below(40), 1 + rng.below(150), 1 + rng.below(7), 1 + rng.below(4), 0,
              1 + rng.below(3),  rng.below(2) == 0};
  const auto reach = shape.dilation * (shape.taps - 1);
  shape.padding = rng.below(reach / 2 + 1);
  shape.length = std::max(shape.length, reach + 1);
  return shape;
}

/// Element by element and tap by tap.
std::vector<double> as_written(const Shape& shape, const std::vector<double>& x, const std::vector<double>& y) {
  std::vector<double> sums(static_cast<std::size_t>(shape.result()), 0.0);
  const auto add = [&](std::int64_t to, std::int64_t from, std::int64_t c, std::int64_t k) {
    if (to < 0 || to >= std::ssize(sums) || from < 0 || from >= shape.length) return;
    sums[static_cast<std::size_t>(to)] +=
        x[static_cast<std::size_t>(c * shape.length + from)] * y[static_cast<std::size_t>(c * shape.taps + k)];
  };
  for (std::int64_t c = 0; c < shape.channels; ++c) {
    for (std::int64_t k = 0; k < shape.taps; ++k) {
      for (std::int64_t i = 0; i < (shape.transposed ? shape.length : shape.result()); ++i) {
        const auto other = i * shape.stride - shape.padding + k * shape.dilation;
        shape.transposed ? add(other, i, c, k) : add(i, other, c, k);
      }
    }
  }
  return sums;
}

void expect_sums(const Shape& shape, Rng& rng, double factor) {
  SCOPED_TRACE(shape.call() + " of " + shape.inputs());
  const auto program = program_of(shape.call(), shape.inputs());
  auto leaves = leaves_of(program);
  const auto input = program.inputs[0].value, weight = program.inputs[1].value;
  for (auto& [value, leaf] : leaves) {
    for (double& one : leaf.values) one = rng.normal();
  }
  auto& factors = leaves.at(weight).values;
  if (factor != 1.0) factors[static_cast<std::size_t>(rng.below(std::ssize(factors)))] = factor;
  const auto answer = evaluate_graph(program.graph, leaves, program.outputs);
  ASSERT_TRUE(answer.has_value()) << answer.error().to_string();
  const auto expected = as_written(shape, leaves.at(input).values, factors);
  ASSERT_EQ(answer->front().values.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double got = answer->front().values[i];
    if (std::isfinite(expected[i])) {
      ASSERT_NEAR(got, expected[i], 1e-11) << i;
    } else {
      ASSERT_TRUE(got == expected[i] || (std::isnan(got) && std::isnan(expected[i]))) << i << ": " << got;
    }
  }
  expect_elements_are_those_of_the_whole(program, leaves);
}

TEST(TapSums, are_those_of_convolutions_of_any_shape) {
  Rng rng(20261128);
  for (int round = 0; round < 60; ++round) expect_sums(draw(rng), rng, 1.0);
}

/// Not even an infinite factor makes something of what lies beside the input.
TEST(TapSums, read_nothing_beside_the_input) {
  Rng rng(20261129);
  for (int round = 0; round < 30; ++round) {
    Shape shape = draw(rng);
    shape.padding = shape.dilation * (shape.taps - 1) / 2;
    expect_sums(shape, rng, std::numeric_limits<double>::infinity());
  }
}

}  // namespace
}  // namespace kw::program_oracle_test
