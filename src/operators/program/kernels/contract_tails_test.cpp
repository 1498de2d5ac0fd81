#include "operators/program/kernels/contract_tails.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program/reader/program_reader.hpp"
#include "program/stages/fuse.hpp"
#include "program/stages/lower.hpp"
#include "program/testing/module_text.hpp"

namespace kw {
namespace {

using program_test::module_text;

/// Of the last two stages of a module.
std::optional<TailedContraction> tail_of(const std::string& result, const std::string& init,
                                         const std::string& inputs = "torch.rand(4, 16, 40, 52)") {
  const auto program = read_program(module_text("return " + result, inputs, init), "m.py");
  KW_CHECK(program.has_value(), "{}", program.error().to_string());
  auto lowered = lower(program->graph, program->outputs);
  KW_CHECK(lowered.has_value(), "{}", lowered.error().to_string());
  const auto stages = fused(*std::move(lowered)).program.stages;
  KW_CHECK(stages.size() >= 2, "one stage alone");
  return tailed_contraction(stages[stages.size() - 2], stages.back());
}

const char* const k_convolution = "self.c = nn.Conv2d(16, 40, 3)";

TEST(ContractTails, are_of_all_channels) {
  const auto found = tail_of("torch.tanh(torch.amin(self.c(x), 1))", k_convolution);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->tail.kind, TailKind::rows);
  EXPECT_EQ(found->tail.reduction.op, ReduceOp::minimum);
  EXPECT_EQ(found->contraction.split.stage.buffer, found->tail.reduction.buffer);
  EXPECT_EQ(found->contraction.split.output.size(), 3U) << "channels are gone";
}

TEST(ContractTails, are_of_windows_side_by_side) {
  EXPECT_TRUE(tail_of("F.max_pool2d(self.c(x), (1, 8))", k_convolution).has_value());
  const auto found = tail_of("F.max_pool2d(self.c(x), (2, 8))", k_convolution);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->tail.kind, TailKind::windows);
  EXPECT_EQ(found->tail.lines, 2);
  EXPECT_EQ(found->tail.columns, 8);
}

TEST(ContractTails, are_of_all_pixels_in_all_planes) {
  const auto found = tail_of("torch.amax(torch.sin(self.c(x)), (2, 3, 4))", "self.c = nn.Conv3d(16, 40, 3)",
                             "torch.rand(2, 16, 12, 14, 40)");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->tail.kind, TailKind::pixels);
  ASSERT_EQ(found->tail.planes.size(), 1U);
  EXPECT_EQ(found->tail.planes[0].extent.text(), "10");
}

/// tanh and a bias of the channel rise with the sum, so that one of them is computed for each window.
TEST(ContractTails, reduce_sums_before_what_rises_with_them) {
  const auto rising = tail_of("F.max_pool2d(torch.tanh(self.c(x)) * 2 + more[0], 2)", k_convolution,
                              "torch.rand(4, 16, 40, 52), torch.rand(40, 1, 1)");
  ASSERT_TRUE(rising.has_value());
  EXPECT_FALSE(rising->contraction.split.stage.epilogue);
  EXPECT_TRUE(rising->tail.epilogue);
  for (const auto& [result, inputs] :
       {std::pair("F.max_pool2d(torch.sin(self.c(x)), 2)", "torch.rand(4, 16, 40, 52)"),
        std::pair("F.avg_pool2d(torch.tanh(self.c(x)), 2)", "torch.rand(4, 16, 40, 52)"),
        std::pair("F.max_pool2d(self.c(x) + more[0], 2)", "torch.rand(4, 16, 40, 52), torch.rand(38, 50)")}) {
    const auto other = tail_of(result, k_convolution, inputs);
    ASSERT_TRUE(other.has_value()) << result;
    EXPECT_TRUE(other->contraction.split.stage.epilogue) << result;
  }
}

TEST(ContractTails, are_windows_in_planes_of_windows_over_planes) {
  const auto program = read_program(module_text("return F.max_pool3d(self.c(x), 2)", "torch.rand(2, 16, 12, 14, 40)",
                                                "self.c = nn.Conv3d(16, 40, 3)"),
                                    "m.py");
  const auto stages = fused(lower(program->graph, program->outputs).value()).program.stages;
  const auto split = windows_of_planes(stages[0], stages[1], 9);
  ASSERT_TRUE(split.has_value());
  EXPECT_EQ(split->in_planes.buffer, 9U);
  EXPECT_EQ(split->in_planes.inner.size(), 2U);
  EXPECT_EQ(split->in_planes.axes[2].extent.text(), "10") << "every plane";
  EXPECT_EQ(split->of_planes.kind, StageKind::map);
  const auto tail = tailed_contraction(stages[0], split->in_planes);
  ASSERT_TRUE(tail.has_value());
  EXPECT_EQ(tail->tail.kind, TailKind::windows);
}

TEST(ContractTails, are_none_of_parts_of_channels_or_pixels) {
  for (const auto& [result, init] :
       {std::pair("torch.amax(self.c(x), 1)", "self.c = nn.Conv2d(16, 40, 3, groups=2)"),
        std::pair("torch.amax(self.c(x), 2)", k_convolution), std::pair("torch.amax(self.c(x), (1, 2))", k_convolution),
        std::pair("F.max_pool2d(self.c(x), 3)", k_convolution),
        std::pair("F.max_pool2d(self.c(x), 2, stride=1)", k_convolution),
        std::pair("F.max_pool2d(self.c(x), 2, padding=1)", k_convolution),
        std::pair("torch.argmax(self.c(x), 1)", k_convolution)}) {
    EXPECT_FALSE(tail_of(result, init).has_value()) << result;
  }
}

/// The epilogue of a reduction that reads all elements again needs them in memory.
TEST(ContractTails, are_none_where_elements_are_read_again) {
  EXPECT_FALSE(tail_of("torch.softmax(self.c(x), 1)", k_convolution).has_value());
}

}  // namespace
}  // namespace kw
