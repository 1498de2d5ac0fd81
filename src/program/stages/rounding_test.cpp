#include "program/stages/rounding.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program/stages/fuse.hpp"
#include "program/stages/lower.hpp"
#include "program/testing/module_text.hpp"

namespace kw {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

struct Lowered {
  Graph graph;
  StageProgram program;
};

Lowered marked(const std::string& result, const std::string& inputs, Precision precision,
               const std::string& init = "pass") {
  const auto program = read_program(program_test::module_text("return " + result, inputs, init), "m.py");
  KW_CHECK(program.has_value(), "{}", program.error().to_string());
  Lowered lowered{program->graph, lower(program->graph, program->outputs).value()};
  mark_rounded(lowered.program, lowered.graph, precision);
  return lowered;
}

/// Names of the buffers that marked stages compute.
std::vector<std::string> marks(const StageProgram& program) {
  std::vector<std::string> names;
  for (const auto& stage : program.stages) {
    if (stage.rounds_factors) names.push_back(program.buffers[stage.buffer].name);
  }
  return names;
}

constexpr const char* k_layers = "self.c, self.l = nn.Conv1d(3, 4, 5), nn.Linear(4, 6)";

TEST(Rounding, marks_the_products_that_the_precision_names) {
  const auto of = [](Precision precision) {
    return marks(marked("self.l(self.c(x)).sum(1)", "torch.randn(2, 3, 8)", precision, k_layers).program);
  };
  EXPECT_THAT(of(Precision::strict), ElementsAre());
  EXPECT_THAT(of(Precision::tf32_convolutions), ElementsAre("conv1d_0"));
  EXPECT_THAT(of(Precision::tf32), ElementsAre("conv1d_0", "linear_1"));
}

TEST(Rounding, marks_products_of_16_bits_whatever_the_precision) {
  const auto of = [](const char* result, const char* inputs) {
    return marks(marked(result, inputs, Precision::strict).program);
  };
  EXPECT_THAT(of("x @ more[0]", "torch.randn(2, 3).half(), torch.randn(3, 4).half()"), ElementsAre("matmul_0"));
  EXPECT_THAT(of("x.float() @ more[0].float()", "torch.randn(2, 3).half(), torch.randn(3, 4).half()"), ElementsAre())
      << "the sum is of f32";
}

TEST(Rounding, leaves_sums_that_are_no_products) {
  EXPECT_THAT(
      marks(marked("F.scaled_dot_product_attention(x, x, x)", "torch.randn(2, 3, 8, 4)", Precision::tf32).program),
      testing::SizeIs(2))
      << "the sum of exponentials stays";
  EXPECT_THAT(marks(marked("(x * x).sum(1)", "torch.randn(2, 3)", Precision::tf32).program), ElementsAre());
}

TEST(Rounding, is_kept_by_a_map_that_goes_to_the_end_of_a_product) {
  auto lowered = marked("torch.relu(self.c(x)) * 2", "torch.randn(2, 3, 8)", Precision::tf32_convolutions, k_layers);
  const auto joined = fused(std::move(lowered.program));
  ASSERT_EQ(joined.program.stages.size(), 1U);
  EXPECT_TRUE(joined.program.stages[0].rounds_factors);
}

TEST(Rounding, gives_each_factor_one_rounded_copy) {
  auto lowered = marked("self.c(x) + self.c(x * 2)", "torch.randn(2, 3, 8)", Precision::tf32_convolutions, k_layers);
  round_factors(lowered.program);
  const auto text = stages_text(lowered.program, lowered.graph);
  EXPECT_THAT(text, HasSubstr("x_in_tf32[i, j, k] = rounded_to_tf32(x[i, j, k])"));
  EXPECT_THAT(text, HasSubstr("c_weight_in_tf32[i, j, k] = rounded_to_tf32(c.weight[i, j, k])"));
  EXPECT_THAT(text, HasSubstr("of x_in_tf32[n, c, x + kx] * c_weight_in_tf32[f, c, kx]"));
  EXPECT_THAT(text, HasSubstr("of mul_1_in_tf32[n, c, x + kx] * c_weight_in_tf32[f, c, kx]"));
  EXPECT_EQ(lowered.program.stages.size(), 7U) << text;
  EXPECT_THAT(marks(lowered.program), ElementsAre());
}

TEST(Rounding, makes_no_copies_of_numbers_of_16_bits) {
  auto lowered = marked("x @ more[0]", "torch.randn(2, 3).half(), torch.randn(3, 4).half()", Precision::tf32);
  round_factors(lowered.program);
  EXPECT_THAT(stages_text(lowered.program, lowered.graph), Not(HasSubstr("tf32")));
}

}  // namespace
}  // namespace kw
