// Identities that hold for all numbers, on random shapes: each ties an operator to others by another way of computing.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <numeric>
#include <random>

#include "operators/program/testing/oracle_case.hpp"

namespace kw::program_oracle_test {
namespace {

class Identities : public testing::Test {
 protected:
  Identities() {
    const char* given = std::getenv("KW_TEST_SEED");
    seed_ = given != nullptr ? std::strtoull(given, nullptr, 10) : 20240611;
    random_.seed(seed_);
  }

  [[nodiscard]] int integer(int least, int most) { return std::uniform_int_distribution<int>(least, most)(random_); }

  /// The results of the module one after the other, on normal numbers; inputs that are alike in two calls with the same
  /// `draw` are the same.
  [[nodiscard]] std::vector<DenseTensor> results(const std::string& forward, const std::string& inputs,
                                                 std::uint64_t draw) {
    const auto program = program_of(forward, inputs);
    auto leaves = leaves_of(program);
    std::mt19937_64 numbers(draw);
    std::normal_distribution<double> normal;
    for (auto& [value, leaf] : leaves) {
      if (!is_floating(leaf.dtype)) continue;
      for (auto& one : leaf.values) one = normal(numbers);
    }
    expect_elements_are_those_of_the_whole(program, leaves);
    auto answer = evaluate_graph(program.graph, leaves, program.outputs);
    EXPECT_TRUE(answer.has_value()) << (answer ? "" : answer.error().to_string());
    return answer ? *std::move(answer) : std::vector<DenseTensor>{};
  }

  /// That both expressions give the same numbers.
  void expect_same(const std::string& one, const std::string& other, const std::string& inputs) {
    SCOPED_TRACE(fmt::format("KW_TEST_SEED={}: {} against {} on {}", seed_, one, other, inputs));
    const auto answer = results(fmt::format("(({}), ({}))", one, other), inputs, random_());
    ASSERT_EQ(answer.size(), 2U);
    ASSERT_EQ(answer[0].values.size(), answer[1].values.size());
    for (std::size_t i = 0; i < answer[0].values.size(); ++i)
      ASSERT_NEAR(answer[0].values[i], answer[1].values[i], 1e-9 * (1.0 + std::fabs(answer[1].values[i]))) << i;
  }

  std::uint64_t seed_ = 0;
  std::mt19937_64 random_;
};

constexpr int k_rounds = 12;

TEST_F(Identities, transposed_convolution_is_the_adjoint_of_convolution) {
  for (int round = 0; round < k_rounds; ++round) {
    const int groups = integer(1, 2), in = groups * integer(1, 2), out = groups * integer(1, 3);
    const int kernel = integer(1, 3), stride = integer(1, 3), dilation = integer(1, 2);
    const int padding = integer(0, dilation * (kernel - 1));
    const int places = integer(2, 4);
    // The extent that the transposed convolution gives back: no rest is left out.
    const int extent = (places - 1) * stride - 2 * padding + dilation * (kernel - 1) + 1;
    if (extent < 1) continue;
    const auto settings =
        fmt::format("stride={}, padding={}, groups={}, dilation={}", stride, padding, groups, dilation);
    // <conv(x), z> = <x, transposed(z)>
    expect_same(fmt::format("torch.sum(F.conv2d(x, y, {}) * more[1])", settings),
                fmt::format("torch.sum(x * F.conv_transpose2d(more[1], y, {}))", settings),
                fmt::format("torch.rand(2, {}, {}, {}), torch.rand({}, {}, {}, {}), torch.rand(2, {}, {}, {})", in,
                            extent, extent, out, in / groups, kernel, kernel, out, places, places));
  }
}

TEST_F(Identities, einsum_of_three_factors_is_one_of_two_and_another) {
  for (int round = 0; round < k_rounds; ++round) {
    expect_same("torch.einsum('bij,jk,bkl->bil', x, y, more[1])",
                "torch.einsum('bij,bjl->bil', x, torch.einsum('jk,bkl->bjl', y, more[1]))",
                fmt::format("torch.rand(2, {0}, {1}), torch.rand({1}, {2}), torch.rand(2, {2}, 3)", integer(1, 4),
                            integer(1, 4), integer(1, 4)));
  }
}

TEST_F(Identities, convolution_is_a_product_with_unfolded_patches) {
  for (int round = 0; round < k_rounds; ++round) {
    const int channels = integer(1, 3), kernel = integer(1, 3), stride = integer(1, 2), padding = integer(0, 1);
    const int height = integer(4, 7), width = integer(4, 7), out = integer(1, 3);
    const auto settings = fmt::format("stride={}, padding={}", stride, padding);
    expect_same(fmt::format("F.conv2d(x, y, {}).flatten(2)", settings),
                fmt::format("y.flatten(1) @ F.unfold(x, {}, {})", kernel, settings),
                fmt::format("torch.rand(2, {}, {}, {}), torch.rand({}, {}, {}, {})", channels, height, width, out,
                            channels, kernel, kernel));
  }
}

TEST_F(Identities, convolution_of_one_axis_is_one_of_three) {
  for (int round = 0; round < k_rounds; ++round) {
    const int channels = integer(1, 3), length = integer(4, 8), kernel = integer(1, 3), stride = integer(1, 3);
    expect_same(
        fmt::format("F.conv1d(x, y, stride={})", stride),
        fmt::format("F.conv3d(x[:, :, None, None], y[:, :, None, None], stride=(1, 1, {}))[:, :, 0, 0]", stride),
        fmt::format("torch.rand(2, {}, {}), torch.rand(2, {}, {})", channels, length, channels, kernel));
  }
}

TEST_F(Identities, rows_of_a_softmax_sum_to_one) {
  for (int round = 0; round < k_rounds; ++round) {
    const int axis = integer(0, 2);
    const auto inputs = fmt::format("torch.rand({}, {}, {})", integer(1, 5), integer(1, 5), integer(1, 5));
    expect_same(fmt::format("torch.softmax(x, {0}).sum({0})", axis), fmt::format("torch.ones_like(x.sum({}))", axis),
                inputs);
    expect_same(fmt::format("torch.log_softmax(x, {})", axis),
                fmt::format("x - torch.logsumexp(x, {}, keepdim=True)", axis), inputs);
  }
}

TEST_F(Identities, differences_of_a_running_sum_are_the_elements) {
  for (int round = 0; round < k_rounds; ++round) {
    const int axis = integer(0, 1), rows = integer(2, 6), columns = integer(2, 6);
    const auto inputs = fmt::format("torch.rand({}, {})", rows, columns);
    expect_same(fmt::format("torch.cumsum(x, {0}).narrow({0}, 1, {1}) - torch.cumsum(x, {0}).narrow({0}, 0, {1})", axis,
                            (axis == 0 ? rows : columns) - 1),
                fmt::format("x.narrow({}, 1, {})", axis, (axis == 0 ? rows : columns) - 1), inputs);
    expect_same(fmt::format("torch.logcumsumexp(x, {})", axis),
                fmt::format("torch.log(torch.cumsum(torch.exp(x), {}))", axis), inputs);
  }
}

/// Features in blocks of eight and what is left of them; each is read along memory, the other product across it.
TEST_F(Identities, linear_is_a_product_with_the_transposed_weight) {
  for (int i = 0; i < 8; ++i) {
    const auto inner = integer(1, 40);
    const auto inputs = fmt::format("torch.rand({0}, {1}), torch.rand({2}, {1})", integer(1, 5), inner, integer(1, 35));
    expect_same("F.linear(x, y)", "torch.matmul(x, y.t())", inputs);
    expect_same("F.linear(x, y)", "(x[:, None] * y[None]).sum(2)", inputs);
  }
}

TEST_F(Identities, einsum_is_matmul_and_sums) {
  for (int round = 0; round < k_rounds; ++round) {
    const int b = integer(1, 3), i = integer(1, 4), j = integer(1, 4), k = integer(1, 4);
    const auto inputs = fmt::format("torch.rand({0}, {1}, {2}), torch.rand({0}, {2}, {3})", b, i, j, k);
    expect_same("torch.einsum('bij,bjk->bik', x, y)", "torch.bmm(x, y)", inputs);
    expect_same("torch.einsum('bij,bjk->ki', x, y)", "torch.matmul(x, y).sum(0).t()", inputs);
    expect_same("torch.matmul(x, y)", "(x[..., None] * y[:, None]).sum(2)", inputs);
  }
}

TEST_F(Identities, normalisations_agree_where_they_mean_the_same) {
  for (int round = 0; round < k_rounds; ++round) {
    const int n = integer(1, 3), c = 2 * integer(1, 3), length = integer(2, 5);
    const auto inputs = fmt::format("torch.rand({}, {}, {})", n, c, length);
    expect_same("F.group_norm(x, 1)", fmt::format("F.layer_norm(x, ({}, {}))", c, length), inputs);
    expect_same(fmt::format("F.group_norm(x, {})", c), "F.instance_norm(x)", inputs);
    expect_same("F.batch_norm(x, None, None, training=True)",
                "(x - x.mean((0, 2), keepdim=True)) / torch.sqrt(x.var((0, 2), unbiased=False, keepdim=True) + 1e-5)",
                inputs);
  }
}

TEST_F(Identities, pooling_of_windows_that_do_not_overlap_is_a_reduction) {
  for (int round = 0; round < k_rounds; ++round) {
    const int a = integer(1, 3), b = integer(1, 3), rows = integer(1, 3), columns = integer(1, 3);
    const auto inputs = fmt::format("torch.rand(2, 2, {}, {})", a * rows, b * columns);
    const auto parts = fmt::format("x.view(2, 2, {}, {}, {}, {})", rows, a, columns, b);
    expect_same(fmt::format("F.avg_pool2d(x, ({}, {}))", a, b), parts + ".mean((3, 5))", inputs);
    expect_same(fmt::format("F.max_pool2d(x, ({}, {}))", a, b), parts + ".amax((3, 5))", inputs);
    expect_same(fmt::format("F.adaptive_avg_pool2d(x, ({}, {}))", rows, columns), parts + ".mean((3, 5))", inputs);
  }
}

}  // namespace
}  // namespace kw::program_oracle_test
