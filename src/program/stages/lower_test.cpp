#include "program/stages/lower.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program/testing/module_text.hpp"

namespace kw {
namespace {

using ::testing::HasSubstr;

std::string stages_of(const std::string& forward, const std::string& inputs, const std::string& init = "pass") {
  const auto program = read_program(program_test::module_text(forward, inputs, init), "m.py");
  if (!program) return program.error().to_string();
  const auto stages = lower(program->graph, program->outputs);
  return stages ? stages_text(*stages, program->graph) : stages.error().to_string();
}

TEST(Lower, writes_a_convolution_as_a_guarded_sum) {
  EXPECT_EQ(
      stages_of("return self.c(x)", "torch.randn(2, 3, 8)", "self.c = nn.Conv1d(3, 4, 5, stride=2, padding=1)"),
      "conv1d (c), line 10\n"
      "  conv1d_0[n, f, x] = result + c.bias[f] of sum over c, kx where 0 <= x * 2 + kx - 1 && x * 2 + kx - 1 < 8 "
      "of x[n, c, x * 2 + kx - 1] * c.weight[f, c, kx]\n"
      "    n < 2, f < 4, x < 3, c < 3, kx < 5\n");
}

TEST(Lower, takes_the_maximum_away_before_the_exponential) {
  EXPECT_EQ(stages_of("return F.softmax(x, dim=1)", "torch.randn(2, 3)"),
            "softmax, line 10\n"
            "  softmax_0_max[i] = max over j of x[i, j]\n"
            "    i < 2, j < 3\n"
            "  softmax_0_sum[i] = sum over j of exp(x[i, j] - softmax_0_max[i, 0])\n"
            "    i < 2, j < 3\n"
            "  softmax_0[i, j] = exp(x[i, j] - softmax_0_max[i, 0]) / softmax_0_sum[i, 0]\n"
            "    i < 2, j < 3\n");
}

TEST(Lower, gives_no_stage_to_another_shape_of_the_same_elements) {
  EXPECT_EQ(stages_of("return torch.relu(x.view(6, 4).unsqueeze(0))", "torch.randn(2, 3, 4)"),
            "relu, line 10\n"
            "  relu_2[i, j, k] = max(x[i, j, k], 0.0)\n"
            "    i < 1, j < 6, k < 4\n");
}

TEST(Lower, copies_an_output_that_is_an_input) {
  EXPECT_EQ(stages_of("return x.flatten()", "torch.randn(2, 3)"),
            "flatten, line 10\n"
            "  x_copy_1[i] = x[i]\n"
            "    i < 6\n");
}

TEST(Lower, leaves_out_what_no_output_needs) {
  EXPECT_EQ(stages_of("y = torch.exp(x)\nreturn x.chunk(2, dim=0)[1]", "torch.randn(4)"),
            "chunk, line 11\n"
            "  chunk_1_1[i] = x[i + 2]\n"
            "    i < 2\n");
}

TEST(Lower, keeps_extents_symbolic) {
  const auto text = "N = 4\n" + program_test::module_text("return x.sum()", "torch.randn(N, 2 * N)");
  const auto program = read_program(text, "m.py");
  ASSERT_TRUE(program);
  EXPECT_THAT(stages_text(lower(program->graph, program->outputs).value(), program->graph),
              HasSubstr("  sum_0_part[i] = sum over j of x[i, j]\n    i < N, j < 2*N\n  sum_0[] = sum over i of "
                        "sum_0_part[i]\n"));
}

TEST(Lower, refuses_an_operator_without_kernels_by_name_and_place) {
  EXPECT_EQ(stages_of("return torch.digamma(x)", "torch.randn(2)"),
            "10:21: digamma has no kernels [program.unsupported]\n  try: write it out with other operators");
}

}  // namespace
}  // namespace kw
