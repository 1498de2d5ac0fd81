// Which data are taken to say something of a kernel.

#include "operators/program/conditioning.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "operators/program/parts.hpp"

namespace kw {
namespace {

Problem problem_of_module(const std::string& result, const std::string& init = "pass", std::int64_t columns = 6,
                          const std::string& precision = "") {
  const std::string module =
      "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\nN = 4\nM = " + std::to_string(columns) +
      "\nclass Model(nn.Module):\n"
      "    def __init__(self):\n        super().__init__()\n        " +
      init + "\n    def forward(self, x):\n        return " + result +
      "\ndef get_inputs():\n    return [torch.randn(N, M)]\n";
  const auto toml = program_problem_text({module, "m.py", "", "", {}, {1e30, 1e30}, precision});
  KW_CHECK(toml.has_value(), "{}", toml.error().to_string());
  return parse_problem(*toml, "m.py").value();
}

/// On its primary workload: every element of x is `first`, but for the ones at odd places.
bool tells(const Problem& problem, float first, float others) {
  InputValues operands;
  for (const auto& tensor : problem.inputs) {
    operands.emplace_back(static_cast<std::size_t>(element_count(tensor, problem.primary().axes).value()), others);
  }
  for (std::size_t i = 0; i < operands[0].size(); i += 2) operands[0][i] = first;
  return conditioning_of(problem, problem.primary(), operands).has_value();
}

TEST(Conditioning, tells_what_cancels_from_what_does_not) {
  const auto variance = problem_of_module("torch.var(x, -1)");
  EXPECT_TRUE(tells(variance, 1.0F, 2.0F));
  EXPECT_FALSE(tells(variance, 100.0F, 100.0F)) << "a variance of equal numbers";
  const auto norm = problem_of_module("F.layer_norm(x, (M,))");
  EXPECT_TRUE(tells(norm, 1.0F, -1.0F));
  EXPECT_FALSE(tells(norm, 3000.0F, 3000.001F)) << "differences that f32 hardly has";
}

TEST(Conditioning, is_larger_where_more_cancels) {
  const auto norm = problem_of_module("F.layer_norm(x, (M,))");
  const auto of = [&](float first) {
    InputValues operands(1, std::vector<float>(24, 1.0F));
    for (std::size_t i = 0; i < 24; i += 2) operands[0][i] = first;
    return conditioning_of(norm, norm.primary(), operands).value_or(1);
  };
  EXPECT_GT(of(0.99F), 10 * of(-1.0F));
  EXPECT_LT(of(-1.0F), 1e-5);
}

/// Two units of 0.3 for the only element of the answer that is not zero, whichever it is.
TEST(Conditioning, is_not_left_to_the_luck_of_one_draw) {
  const auto problem = problem_of_module("F.softshrink(x * 1.5, 0.3)");
  for (std::size_t place = 0; place < 24; ++place) {
    InputValues operands(1, std::vector<float>(24, 0.0F));
    operands[0][place] = -0.2013F;
    constexpr double k_result = 1.95e-3, k_moved = 4e-8;
    const double scale = k_result / std::sqrt(6.0) + 0.1 * k_result / std::sqrt(24.0);
    EXPECT_GT(conditioning_of(problem, problem.primary(), operands).value_or(0), k_moved / scale) << place;
  }
}

TEST(Conditioning, counts_what_additions_lose_in_every_sum) {
  for (const std::string sum :
       {"torch.mean(x)", "torch.sum(x)", "torch.cumsum(x.flatten(), -1)[-1]",
        "F.linear(x.reshape(1, -1), torch.ones(1, N * M))", "torch.matmul(x.reshape(1, -1), torch.ones(N * M, 1))",
        "torch.einsum('ij,ij->', x, torch.ones(N, M))", "F.avg_pool1d(x.reshape(1, 1, -1), N * M)",
        "F.conv1d(x.reshape(1, 1, -1), torch.ones(1, 1, N * M))"}) {
    SCOPED_TRACE(sum);
    const auto problem = problem_of_module(sum, "pass", 6000);
    InputValues operands(1, std::vector<float>(24000, -0.99F));
    for (std::size_t i = 0; i < operands[0].size(); i += 2) operands[0][i] = 1.0F;
    const auto lost = conditioning_of(problem, problem.primary(), operands);
    ASSERT_TRUE(lost.has_value());
    // A share of 24000 numbers of about 1 is 5e-5 of their sum; as each of them is moved, that changes by 3e-7.
    EXPECT_GT(*lost, 1e-5);
    EXPECT_LT(*lost, 1e-4);
  }
}

TEST(Conditioning, counts_what_the_mean_of_a_norm_loses_however_it_is_averaged) {
  for (const std::string norm :
       {"nn.BatchNorm1d(N)", "nn.InstanceNorm1d(N)", "nn.GroupNorm(2, N)", "nn.LayerNorm((N, M))"}) {
    SCOPED_TRACE(norm);
    // What is rounded in one element counts for a tenth in averages of 100.
    const auto problem = problem_of_module("F.avg_pool1d(self.n(x.unsqueeze(0)), 100)", "self.n = " + norm, 6000);
    InputValues operands;
    for (const auto& tensor : problem.inputs) {
      const auto count = static_cast<std::size_t>(element_count(tensor, problem.primary().axes).value());
      operands.emplace_back(count, tensor.name.ends_with("bias") ? 0.0F : 1.0F);
    }
    Rng rng(7);
    for (float& value : operands[0]) value = static_cast<float>(10.0 + 0.2 * rng.normal());
    const auto lost = conditioning_of(problem, problem.primary(), operands);
    ASSERT_TRUE(lost.has_value());
    // The mean loses two units of 10, which are 1.2e-5 of a deviation of 0.2; and rows are a tenth of one.
    EXPECT_GT(*lost, 1.5e-4);
  }
}

TEST(Conditioning, counts_what_the_mean_of_equal_numbers_loses) {
  // Half a unit of 1 for each of the first additions, and a division by the root of 1e-5.
  const auto norm = problem_of_module("self.n(torch.sign(x))", "self.n = nn.BatchNorm1d(M)", 6);
  InputValues operands;
  for (const auto& tensor : norm.inputs) {
    operands.emplace_back(static_cast<std::size_t>(element_count(tensor, norm.primary().axes).value()), 1.0F);
  }
  const auto lost = conditioning_of(norm, norm.primary(), operands);
  ASSERT_TRUE(lost.has_value()) << "there is the bias";
  EXPECT_GT(*lost, 5e-5);
}

TEST(Conditioning, tells_what_is_saturated) {
  const auto gelu = problem_of_module("torch.max(F.gelu(x), -1).values");
  EXPECT_TRUE(tells(gelu, 1.0F, -20.0F));
  EXPECT_FALSE(tells(gelu, -19.0F, -20.0F)) << "1e-80 is nothing in f32";
  const auto log = problem_of_module("torch.log(1.0001 - torch.sigmoid(x))");
  EXPECT_TRUE(tells(log, 1.0F, -2.0F));
  EXPECT_FALSE(tells(problem_of_module("torch.log(1 - torch.sigmoid(x))"), 15.0F, 16.0F));
}

TEST(Conditioning, counts_what_a_gelu_of_negative_numbers_loses) {
  const auto gelu = problem_of_module("F.gelu(x)");
  EXPECT_TRUE(tells(gelu, -4.5F, 2.0F));
  EXPECT_TRUE(tells(gelu, -2.0F, -2.5F));
  EXPECT_FALSE(tells(gelu, -4.5F, -4.4F)) << "one and what is nearly minus one, in f32";
}

TEST(Conditioning, takes_the_infinity_of_a_mask_and_no_overflow) {
  const auto masked = problem_of_module("torch.softmax(x.masked_fill(x > 2, float('-inf')), -1)");
  EXPECT_TRUE(tells(masked, 3.0F, 1.0F));
  EXPECT_FALSE(tells(problem_of_module("1 / torch.exp(torch.exp(x))"), 7.0F, 6.0F));
}

TEST(Conditioning, tells_nothing_of_what_a_type_cannot_hold) {
  const auto tells_in = [](const std::string& type) {
    return tells(problem_of_module("torch.matmul(x.to(torch." + type + "), x.to(torch." + type + ").t())"), 100.0F,
                 99.0F);
  };
  EXPECT_FALSE(tells_in("float16")) << "60000";
  EXPECT_TRUE(tells_in("bfloat16"));
  EXPECT_TRUE(tells_in("float32"));
}

TEST(Conditioning, lets_factors_rounded_to_tf32_move_an_answer_by_a_twentieth) {
  // 24 factors of 1.0002, each rounded to 1: 0.0048 of what is left.
  const auto told = [](const std::string& precision, const std::string& subtracted) {
    const std::string sum = "torch.matmul(x.reshape(1, -1), torch.ones(N * M, 1)) - " + subtracted;
    return tells(problem_of_module(sum, "pass", 6, precision), 1.0002F, 1.0002F);
  };
  EXPECT_TRUE(told("tf32", "23.845")) << "by 2.7 hundredths";
  EXPECT_FALSE(told("tf32", "23.965")) << "by 11 hundredths";
  EXPECT_TRUE(told("strict", "23.965"));
}

TEST(Conditioning, sees_what_does_not_depend_on_the_inputs) {
  const auto norm = problem_of_module("self.n(x)", "self.n = nn.GroupNorm(6, M)");
  EXPECT_FALSE(depends_on_inputs(norm, norm.primary())) << "groups of one element";
  const auto fewer = problem_of_module("self.n(x)", "self.n = nn.GroupNorm(2, M)");
  EXPECT_TRUE(depends_on_inputs(fewer, fewer.primary()));
}

}  // namespace
}  // namespace kw
