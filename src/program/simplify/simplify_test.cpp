#include "program/simplify/simplify.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.hpp"
#include "program/reader/program_reader.hpp"
#include "program/testing/module_text.hpp"

namespace kw {
namespace {

using program_test::module_text;

SimplifiedGraph simplified_module(const std::string& result, const std::string& inputs = "torch.rand(4, 6)",
                                  const std::string& init = "pass") {
  const auto program = read_program(module_text("return " + result, inputs, init), "m.py");
  KW_CHECK(program.has_value(), "{}", program.error().to_string());
  return simplified(program->graph, program->outputs);
}

/// The operators that are left, in their order.
std::string left_of(const std::string& result, const std::string& inputs = "torch.rand(4, 6)",
                    const std::string& init = "pass") {
  return join(simplified_module(result, inputs, init).graph.nodes, " ", [](const Node& node) { return node.op; });
}

TEST(Simplify, leaves_what_no_rule_is_about) {
  EXPECT_EQ(left_of("torch.relu(x) * 2 + 1"), "relu mul add");
  EXPECT_TRUE(simplified_module("torch.relu(x) * 2 + 1").applied.empty());
}

TEST(Simplify, drops_what_does_nothing) {
  EXPECT_EQ(left_of("torch.exp(x * 1 / 1.0 - 0)"), "exp");
  EXPECT_EQ(left_of("torch.exp(0 + 1 * x)"), "exp");
  EXPECT_EQ(left_of("torch.exp(1 / x)"), "div exp");
  EXPECT_EQ(left_of("x.transpose(0, 1).permute(1, 0).exp()"), "exp");
  EXPECT_EQ(left_of("x.unsqueeze(0).permute(1, 2, 0).permute(1, 2, 0).exp()"), "unsqueeze permute exp");
}

TEST(Simplify, keeps_a_sum_with_zero_where_the_sign_of_a_zero_is_seen) {
  EXPECT_EQ(left_of("1 / (x + 0)"), "add div");
  EXPECT_EQ(left_of("1 / (x - 0)"), "div");
}

TEST(Simplify, keeps_types_and_shapes) {
  EXPECT_EQ(left_of("x * 1.0", "torch.randint(0, 9, (4, 6))"), "mul");
  EXPECT_EQ(left_of("x.double() / 1"), "to");
}

TEST(Simplify, folds_scales_unless_the_first_one_may_overflow) {
  EXPECT_EQ(left_of("x * 2 * 3.0 / 4"), "mul div");
  EXPECT_EQ(left_of("x / 4 * 3.0"), "mul");
  EXPECT_EQ(left_of("x * 1e30 * 1e30"), "mul mul");
}

TEST(Simplify, makes_one_range_of_two) {
  EXPECT_EQ(left_of("F.relu(F.relu(x))"), "relu");
  EXPECT_EQ(left_of("F.relu(torch.clamp(x, min=-1, max=2))"), "clamp");
  EXPECT_EQ(left_of("torch.clamp(F.relu6(x), max=9)"), "relu6");
  EXPECT_EQ(left_of("torch.clamp(x, x, x).relu()"), "clamp relu");
}

TEST(Simplify, reads_single_elements_as_they_are) {
  EXPECT_EQ(left_of("x.mean(1, keepdim=True).max(1, keepdim=True)[0].logsumexp(1)"), "mean reshape");
  EXPECT_EQ(left_of("x.amax(1, keepdim=True).max(1)[1]"), "amax max") << "the place is asked for";
  EXPECT_EQ(left_of("x.mean(0)", "torch.rand(1, 6)"), "reshape");
}

TEST(Simplify, does_not_take_an_axis_that_happens_to_be_one_for_a_single_element) {
  const auto program = read_program(
      "import torch\nimport torch.nn as nn\nbatch = 1\nclass Model(nn.Module):\n    def forward(self, x):\n"
      "        return x.sum(0)\ndef get_inputs():\n    return [torch.rand(batch, 5)]\n",
      "m.py");
  ASSERT_TRUE(program) << program.error().to_string();
  EXPECT_TRUE(simplified(program->graph, program->outputs).applied.empty());
}

TEST(Simplify, says_of_a_constant_that_it_is_one) {
  const auto softmax = simplified_module("torch.softmax(x.sum(1, keepdim=True), 1)");
  ASSERT_EQ(softmax.applied.size(), 1U);
  EXPECT_EQ(
      applied_text(softmax.applied[0]),
      "softmax_of_one at softmax, line 10: softmax over one element is 1, and its logarithm 0; the module's result "
      "there is a constant");
  EXPECT_EQ(left_of("x.amax(1, keepdim=True) - x.amax(1, keepdim=True).mean(1, keepdim=True)"), "amax amax sub");
}

TEST(Simplify, takes_a_product_with_tanh_of_softplus_for_mish) {
  EXPECT_EQ(left_of("x * torch.tanh(F.softplus(x))"), "mish");
  EXPECT_EQ(left_of("torch.tanh(F.softplus(x, threshold=30)) * x"), "mish");
  EXPECT_EQ(left_of("more[0] * torch.tanh(F.softplus(x))", "torch.rand(4, 6), torch.rand(4, 6)"), "softplus tanh mul");
  EXPECT_EQ(left_of("x * torch.tanh(F.softplus(x, beta=2))"), "softplus tanh mul");
  EXPECT_EQ(left_of("x * torch.tanh(F.softplus(x, threshold=5))"), "softplus tanh mul");
}

TEST(Simplify, sums_the_weight_instead_of_the_product) {
  const char* linear = "self.c = nn.Linear(6, 9)";
  EXPECT_EQ(left_of("self.c(x).sum(1, keepdim=True)", "torch.rand(4, 6)", linear), "sum sum linear");
  EXPECT_EQ(left_of("self.c(x).sum(-1)", "torch.rand(4, 6)", linear), "sum sum linear reshape");
  EXPECT_EQ(left_of("(x @ more[0] / 2).sum(1)", "torch.rand(4, 6), torch.rand(6, 8)"), "sum matmul reshape div");
  EXPECT_EQ(left_of("self.c(x).sum(0)", "torch.rand(4, 6)", linear), "linear sum");
  EXPECT_EQ(left_of("(self.c(x).sum(1), self.c(x))", "torch.rand(4, 6)", linear), "sum sum linear reshape linear");
}

}  // namespace
}  // namespace kw
