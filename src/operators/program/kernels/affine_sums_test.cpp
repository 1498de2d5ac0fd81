#include "operators/program/kernels/affine_sums.hpp"

#include <gtest/gtest.h>

#include "program/reader/program_reader.hpp"
#include "program/stages/fuse.hpp"
#include "program/stages/lower.hpp"
#include "program/testing/module_text.hpp"

namespace kw {
namespace {

/// Of the last stage of a module, whose first one is returned too; as text the means and the rest.
std::optional<std::pair<std::string, std::string>> affine_text(const std::string& result,
                                                               const std::string& inputs = "torch.rand(4, 8, 20, 30)") {
  const auto program = read_program(
      program_test::module_text("y = torch.cumsum(x, 3)\nreturn " + result + ", y", inputs, "pass"), "m.py");
  KW_CHECK(program.has_value(), "{}", program.error().to_string());
  auto stages = fused(lower(program->graph, program->outputs).value()).program;
  const auto found = affine_sum_of(stages, stages.stages[0], stages.stages.back(), stages.buffers.size());
  if (!found) return std::nullopt;
  stages.buffers.push_back(found->buffer);
  return std::pair(stage_text(stages, found->means), stage_text(stages, found->rest));
}

TEST(AffineSums, follow_from_means_over_all_axes_that_nothing_else_names) {
  const auto found = affine_text("((y - more[0]) * 3).sum((2, 3))", "torch.rand(4, 8, 20, 30), torch.rand(8, 1, 1)");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->first, "cumsum_0_means[i, j] = result / 600.0 of sum over k, l of cumsum_0[i, j, k, l]");
  EXPECT_EQ(found->second, "sum_3[i, j] = (cumsum_0_means[i, j] - input_1[j, 0, 0]) * 3.0 * 600.0");
}

TEST(AffineSums, are_sums_of_means_where_channels_have_weights) {
  const auto found = affine_text("(y * more[0]).sum((1, 2, 3))", "torch.rand(4, 8, 20, 30), torch.rand(8, 1, 1)");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->second, "sum_2[i] = sum over j of cumsum_0_means[i, j] * input_1[j, 0, 0] * 600.0");
}

TEST(AffineSums, are_none_of_squares_weights_of_elements_and_the_elements_themselves) {
  const char* const with_weights = "torch.rand(4, 8, 20, 30), torch.rand(20, 30)";
  EXPECT_FALSE(affine_text("(y * y).sum((2, 3))").has_value());
  EXPECT_FALSE(affine_text("torch.relu(y).sum((2, 3))").has_value());
  EXPECT_FALSE(affine_text("y.sum((2, 3))").has_value());
  EXPECT_FALSE(affine_text("(y * more[0]).sum((2, 3))", with_weights).has_value());
  EXPECT_FALSE(affine_text("(y / more[0]).sum((2, 3))", with_weights).has_value());
  EXPECT_FALSE(affine_text("(1 / y).sum((2, 3))").has_value());
  EXPECT_FALSE(affine_text("(y * 2 + 1).amax((2, 3))").has_value());
}

}  // namespace
}  // namespace kw
