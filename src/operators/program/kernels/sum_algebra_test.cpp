// When sums move behind products, and when they stay.

#include "operators/program/kernels/sum_algebra.hpp"

#include <gtest/gtest.h>

#include "operators/program/kernels/exchange_sums.hpp"
#include "operators/program/kernels/pool_products.hpp"
#include "program/reader/program_reader.hpp"
#include "program/stages/fuse.hpp"
#include "program/stages/lower.hpp"
#include "program/testing/module_text.hpp"

namespace kw {
namespace {

using program_test::module_text;
using Lines = std::vector<std::string>;

StageProgram fused_stages(const std::string& result, const std::string& inputs, const std::string& init) {
  const auto program = read_program(module_text("return " + result, inputs, init), "m.py");
  KW_CHECK(program.has_value(), "{}", program.error().to_string());
  auto stages = lower(program->graph, program->outputs);
  KW_CHECK(stages.has_value(), "{}", stages.error().to_string());
  return fused(*std::move(stages)).program;
}

Lines exchanged(const std::string& result, const std::string& init) {
  auto program = fused_stages(result, "torch.rand(2, 6, 12, 20)", init);
  return exchange_sums(program);
}

Lines pooled(const std::string& result, const std::string& init) {
  auto program = fused_stages(result, "torch.rand(2, 6, 12, 20)", init);
  return pool_products(program);
}

constexpr const char* k_convolution = "self.c = nn.Conv2d(6, 16, 3, padding=1)";

TEST(ExchangeSums, sums_the_inputs_of_a_convolution_whose_outputs_are_summed) {
  const Lines one = {"sums_exchanged at mean_1: the sum over outputs of conv2d_0 sums its inputs first"};
  EXPECT_EQ(exchanged("self.c(x).mean((2, 3))", k_convolution), one);
}

TEST(ExchangeSums, stays_where_outputs_are_no_linear_function_of_the_sums) {
  EXPECT_EQ(exchanged("torch.relu(self.c(x)).mean((2, 3))", k_convolution), Lines());
  EXPECT_EQ(exchanged("self.c(x).amax((2, 3))", k_convolution), Lines());
  EXPECT_EQ(exchanged("(1 / self.c(x)).mean((2, 3))", k_convolution), Lines());
}

TEST(ExchangeSums, stays_where_the_outputs_are_read_elsewhere_or_little_is_won) {
  EXPECT_EQ(exchanged("self.c(x).mean((2, 3)), self.c(x)", k_convolution).size(), 1U);
  EXPECT_EQ(exchanged("(lambda y: (y, y.mean((2, 3))))(self.c(x))", k_convolution), Lines());
  EXPECT_EQ(exchanged("self.c(x).mean((2, 3))", "self.c = nn.Conv2d(6, 2, 3)"), Lines());
}

TEST(PoolProducts, pools_the_filter_of_a_convolution_that_is_averaged) {
  EXPECT_EQ(pooled("F.avg_pool2d(self.c(x) * 2, 2)", k_convolution).size(), 1U);
  EXPECT_EQ(pooled("F.avg_pool2d(self.c(x), 2)", "self.c = nn.ConvTranspose2d(6, 16, 3, stride=2, padding=1)").size(),
            1U);
}

TEST(PoolProducts, stays_where_it_would_be_wrong_or_more_work) {
  EXPECT_EQ(pooled("F.avg_pool2d(torch.tanh(self.c(x)), 2)", k_convolution), Lines());
  EXPECT_EQ(pooled("F.max_pool2d(self.c(x), 2)", k_convolution), Lines());
  EXPECT_EQ(pooled("F.avg_pool2d(self.c(x), 3, 2, 1)", k_convolution), Lines());
  EXPECT_EQ(pooled("F.avg_pool2d(self.c(x), 5, 1)", k_convolution), Lines());
  EXPECT_EQ(pooled("F.avg_pool2d(self.c(x), 3)", "self.c = nn.ConvTranspose2d(6, 16, 3, stride=2)"), Lines());
}

}  // namespace
}  // namespace kw
