#include "operators/program/kernels/contraction.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/rng.hpp"
#include "operators/program/kernels/affine_index.hpp"
#include "operators/program/kernels/contract_strips.hpp"
#include "operators/program/kernels/factor_memory.hpp"
#include "program/reader/program_reader.hpp"
#include "program/stages/lower.hpp"
#include "program/stages/rewrite.hpp"
#include "program/testing/module_text.hpp"

namespace kw {
namespace {

using program_test::module_text;

StageProgram stages_of(const std::string& result, const std::string& inputs, const std::string& init = "pass") {
  const auto program = read_program(module_text("return " + result, inputs, init), "m.py");
  KW_CHECK(program.has_value(), "{}", program.error().to_string());
  auto stages = lower(program->graph, program->outputs);
  KW_CHECK(stages.has_value(), "{}", stages.error().to_string());
  return *std::move(stages);
}

/// The last stage that is one.
std::optional<Contraction> contraction_in(const StageProgram& program, ColumnChoice choice = ColumnChoice::packed) {
  std::optional<Contraction> found;
  for (const auto& stage : program.stages) {
    if (auto one = contraction_of(stage, choice)) found = std::move(one);
  }
  return found;
}

std::string names_of(const StageAxes& axes) {
  std::string text;
  for (const auto& axis : axes) text += fmt::format("{}<{} ", axis.name, axis.extent.text());
  return text;
}

/// "batch | rows | columns | inner", with extents.
std::string axes_of(const std::optional<Contraction>& contraction) {
  if (!contraction) return "none";
  return fmt::format("{}| {}| {}| {}", names_of(contraction->batch), names_of(contraction->rows),
                     names_of(contraction->columns), names_of(contraction->inner));
}

std::vector<KernelBuffer> buffers_of(const StageProgram& program, DType dtype = DType::f32) {
  std::vector<KernelBuffer> buffers;
  for (const auto& buffer : program.buffers) buffers.push_back({buffer.name, buffer.name, dtype});
  return buffers;
}

TEST(Contraction, tells_the_axes_of_a_product_apart) {
  EXPECT_EQ(axes_of(contraction_in(stages_of("x @ more[0]", "torch.rand(30, 40), torch.rand(40, 50)"))),
            "| i<30 | j<50 | k<40 ");
  EXPECT_EQ(axes_of(contraction_in(stages_of("torch.bmm(x, more[0])", "torch.rand(4, 30, 40), torch.rand(4, 40, 50)"))),
            "b<4 | i<30 | j<50 | k<40 ");
  EXPECT_EQ(axes_of(contraction_in(
                stages_of("torch.einsum('bijl,lk->bijk', x, more[0])", "torch.rand(2, 5, 6, 40), torch.rand(40, 33)"))),
            "| b<2 i<5 j<6 | k<33 | l<40 ");
}

TEST(Contraction, takes_the_side_with_less_waste_for_columns) {
  const auto program = stages_of("x @ more[0]", "torch.rand(32, 400), torch.rand(400, 20)");
  EXPECT_EQ(axes_of(contraction_in(program)), "| j<20 | i<32 | k<400 ");
  EXPECT_EQ(axes_of(contraction_in(program, ColumnChoice::contiguous)), "| i<32 | j<20 | k<400 ");
}

TEST(Contraction, sums_a_convolution_over_channels_and_taps) {
  const auto program = stages_of("self.c(x)", "torch.rand(2, 12, 9, 8)", "self.c = nn.Conv2d(12, 20, 3, padding=1)");
  const auto contraction = contraction_in(program);
  EXPECT_EQ(axes_of(contraction), "| n<2 y<9 x<8 | f<20 | c<12 ky<3 kx<3 ");
  EXPECT_EQ(contraction->first.guards.size(), 4U);
  EXPECT_EQ(contraction->second.guards.size(), 0U);
}

TEST(Contraction, makes_groups_of_filters_a_batch) {
  const auto program =
      stages_of("self.c(x)", "torch.rand(2, 12, 9, 8)", "self.c = nn.Conv2d(12, 24, 3, groups=3, bias=False)");
  EXPECT_EQ(axes_of(contraction_in(program)), "f_group<3 | n<2 y<7 x<6 | f_member<8 | c<4 ky<3 kx<3 ");
}

TEST(Contraction, visits_only_the_taps_of_a_phase_of_a_transposed_convolution) {
  const auto program =
      stages_of("self.c(x)", "torch.rand(2, 12, 9)", "self.c = nn.ConvTranspose1d(12, 20, 5, stride=2)");
  const auto contraction = contraction_in(program);
  EXPECT_EQ(axes_of(contraction), "x_phase<2 | n<2 x_step<11 | f<20 | c<12 kx_step<3 ");
  EXPECT_TRUE(contraction->split.stored);
}

TEST(Contraction, leaves_what_is_no_product_of_matrices) {
  EXPECT_EQ(axes_of(contraction_in(stages_of("x @ more[0]", "torch.rand(300, 400), torch.rand(400)"))), "none");
  EXPECT_EQ(axes_of(contraction_in(stages_of("x @ more[0]", "torch.rand(8, 4), torch.rand(4, 8)"))), "none");
  EXPECT_EQ(axes_of(contraction_in(stages_of("x.sum(1)", "torch.rand(300, 400)"))), "none");
  EXPECT_EQ(axes_of(contraction_in(stages_of("torch.amax(x, 1)", "torch.rand(300, 400)"))), "none");
  EXPECT_EQ(
      axes_of(contraction_in(stages_of("x @ more[0]", "torch.randint(0, 9, (64, 64)), torch.randint(0, 9, (64, 64))"))),
      "none");
  EXPECT_EQ(axes_of(contraction_in(stages_of("self.c(x)", "torch.rand(2, 64, 30, 30)",
                                             "self.c = nn.Conv2d(64, 64, 3, groups=64, bias=False)"))),
            "none");
}

/// Rows over seven axes of the module are more factors than an extent keeps.
TEST(Contraction, leaves_products_whose_rows_cannot_be_counted_for_other_shapes) {
  const std::string module =
      "import torch\nimport torch.nn as nn\na, b, c, d, e, f, g, k, n = 2, 3, 2, 3, 2, 3, 2, 24, 40\n"
      "class Model(nn.Module):\n    def forward(self, x, y):\n        return x @ y\n"
      "def get_inputs():\n    return [torch.rand({}k), torch.rand(k, n)]\n";
  const auto axes_for = [&](const char* rows) {
    const auto program = read_program(fmt::format(fmt::runtime(module), rows), "m.py");
    KW_CHECK(program.has_value(), "{}", program.error().to_string());
    return axes_of(contraction_in(lower(program->graph, program->outputs).value()));
  };
  EXPECT_EQ(axes_for("a, b, c, d, e, f, g, "), "none");
  EXPECT_EQ(axes_for("c, d, e, f, g, "), "| b0<c b1<d b2<e b3<f i<g | j<n | k<k ");
}

/// The run of a strip, with extents.
std::string run_of(const StageProgram& program) {
  const auto contraction = contraction_in(program, ColumnChoice::contiguous);
  const auto strip = contraction ? strip_contraction(*contraction) : std::nullopt;
  return strip ? names_of(strip->run) : "none";
}

TEST(StripContraction, has_the_columns_of_one_matrix_as_a_run) {
  EXPECT_EQ(run_of(stages_of("x @ more[0]", "torch.rand(30, 40), torch.rand(40, 50)")), "j<50 ");
  EXPECT_EQ(
      run_of(stages_of("torch.einsum('fc,ncxy->nfxy', x, more[0])", "torch.rand(24, 16), torch.rand(3, 16, 12, 20)")),
      "x<12 y<20 ");
}

TEST(StripContraction, is_none_of_columns_that_are_apart_or_of_guards_taps_and_other_types) {
  const char* image = "torch.rand(3, 16, 12, 20)";
  EXPECT_EQ(run_of(stages_of("self.c(x)", image, "self.c = nn.Conv2d(16, 24, 3)")), "none");
  EXPECT_EQ(run_of(stages_of("self.c(x)", image, "self.c = nn.Conv2d(16, 24, 1, padding=1)")), "none");
  EXPECT_EQ(run_of(stages_of("self.c(x)", "torch.rand(90, 40)", "self.c = nn.Linear(40, 50)")), "none");
  EXPECT_EQ(
      run_of(stages_of("torch.einsum('fc,ncxy->nfyx', x, more[0])", "torch.rand(24, 16), torch.rand(3, 16, 12, 20)")),
      "none");
  EXPECT_EQ(run_of(stages_of("x @ more[0]",
                             "torch.rand(30, 40, dtype=torch.float16), "
                             "torch.rand(40, 50, dtype=torch.float16)")),
            "none");
}

TEST(FactorMemory, reads_tensors_of_floats_where_they_lie) {
  const auto program = stages_of("x.transpose(0, 1) @ more[0]", "torch.rand(40, 30), torch.rand(40, 50)");
  const auto contraction = *contraction_in(program);
  const auto memory = factor_memory(contraction, contraction.first, buffers_of(program));
  ASSERT_TRUE(memory);
  EXPECT_FALSE(memory->copy);
}

TEST(FactorMemory, copies_an_image_with_zeros_around_it) {
  const auto program = stages_of("self.c(x)", "torch.rand(2, 12, 9, 8)", "self.c = nn.Conv2d(12, 20, 3, padding=1)");
  const auto contraction = *contraction_in(program);
  const auto memory = factor_memory(contraction, contraction.first, buffers_of(program));
  ASSERT_TRUE(memory);
  ASSERT_TRUE(memory->copy);
  EXPECT_EQ(names_of(memory->copy->axes), "in_0<2 in_1<12 in_2<11 in_3<10 ");
  EXPECT_EQ(memory->address.coefficients.at("ky").text(), "10");
  EXPECT_EQ(memory->address.coefficients.at("y").text(), "10");
  EXPECT_EQ(memory->address.constant.text(), "0");
}

TEST(FactorMemory, copies_what_is_not_stored_as_floats) {
  const auto program = stages_of("x @ more[0]", "torch.rand(30, 40), torch.rand(40, 50)");
  const auto contraction = *contraction_in(program);
  const auto memory = factor_memory(contraction, contraction.first, buffers_of(program, DType::f16));
  ASSERT_TRUE(memory);
  EXPECT_TRUE(memory->copy);
}

/// Random sums and products of two axes and constants against their affine form at random indices.
TEST(AffineIndex, agrees_with_the_expression_it_was_taken_from) {
  Rng random(20261123);
  const auto draw = [&](std::int64_t below) { return static_cast<int>(random.below(below)); };
  for (int round = 0; round < 200; ++round) {
    StageExpr expression = axis_index("a");
    const int a = draw(50);
    const int b = draw(50);
    std::int64_t value = a;
    for (int i = 0; i < 6; ++i) {
      const int number = draw(9) - 4;
      switch (draw(4)) {
        case 0:
          expression = expression + StageExpr(number);
          value += number;
          break;
        case 1:
          expression = expression * StageExpr(number);
          value *= number;
          break;
        case 2:
          expression = expression - axis_index("b") * StageExpr(number);
          value -= b * number;
          break;
        default:
          expression = -expression;
          value = -value;
      }
    }
    const auto form = affine_index(expression, {});
    ASSERT_TRUE(form) << "round " << round;
    const auto coefficient = [&](const char* axis) {
      const auto found = form->coefficients.find(axis);
      return found == form->coefficients.end() ? 0 : found->second.value();
    };
    EXPECT_EQ(coefficient("a") * a + coefficient("b") * b + form->constant.value(), value) << "round " << round;
  }
}

TEST(AffineIndex, has_none_for_a_product_of_axes) {
  EXPECT_FALSE(affine_index(axis_index("a") * axis_index("b"), {}));
  EXPECT_FALSE(affine_index(floor_divide(axis_index("a"), 2), {}));
  EXPECT_TRUE(affine_index(floor_divide(axis_index("a"), 2) + axis_index("b"), {"a"}));
}

}  // namespace
}  // namespace kw
