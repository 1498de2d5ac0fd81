// Products of f32 as products of scaled f16 numbers, on the CUDA simulator through the whole verifier: factors of every
// layout, convolutions by patches, sums that are split, what becomes of the sums, and rows and patches so large and so
// small that only their powers of two keep them.

#include <gtest/gtest.h>

#include "tests/programs/modules_on_simulator.hpp"

namespace kw {
namespace {

const IntBindings k_scaled = {{"SCALED", 1}};
constexpr const char* k_products = "begin_scaled_tile(row_tiles";
constexpr const char* k_rounded_products = "begin_tile_by_rows(row_tiles";

const std::vector<ModuleCase> k_cases = {
    {"steps_are_neighbours", "F.linear(x, more[0])", "pass", "torch.randn(37, 53), torch.randn(29, 53)"},
    {"in_whole_runs", "F.linear(x, more[0])", "pass", "torch.randn(70, 96), torch.randn(140, 96)"},
    {"columns_are_neighbours", "x @ more[0]", "pass", "torch.randn(37, 53), torch.randn(53, 29)"},
    {"both_are_neighbours", "x.T @ more[0]", "pass", "torch.randn(53, 130), torch.randn(53, 129)"},
    {"rows_are_neighbours", "x.T @ more[0].T", "pass", "torch.randn(41, 33), torch.randn(39, 41)"},
    {"one_step", "x @ more[0]", "pass", "torch.randn(70, 1), torch.randn(1, 150)"},
    {"batches", "torch.bmm(x, more[0])", "pass", "torch.randn(3, 21, 35), torch.randn(3, 35, 18)"},
    {"batches_of_heads", "torch.einsum('bhqd,bkhd->bhqk', x, more[0])", "pass",
     "torch.randn(2, 3, 17, 20), torch.randn(2, 19, 3, 20)"},
    {"rows_of_two_axes", "x @ more[0]", "pass", "torch.randn(3, 21, 35), torch.randn(35, 18)"},
    {"a_long_sum", "x @ more[0]", "pass", "torch.randn(17, 2503), torch.randn(2503, 19)"},
    {"more_than_is_kept", "F.linear(x, more[0])", "pass", "torch.randn(33, 8300), torch.randn(34, 8300)"},
    {"tiny_and_huge", "F.linear(x, more[0])", "pass", "torch.randn(37, 53) * 1e-30, torch.randn(29, 53) * 1e30"},
    {"near_the_largest_float", "F.linear(x, more[0])", "pass",
     "torch.randn(37, 53) * 1e37, torch.randn(29, 53) * 1e-3"},
    {"near_the_least_float", "(x @ more[0])", "pass", "torch.randn(37, 53) * 1e-36, torch.randn(53, 29)"},
    {"rows_of_zeros", "F.linear(torch.triu(x, 20), more[0])", "pass", "torch.randn(37, 53), torch.randn(29, 53)"},
    {"bias_and_maps", "torch.relu(self.c(x)) * 2", "self.c = nn.Linear(20, 33)", "torch.randn(B, H, W)"},
    {"layers", "self.b(torch.relu(self.a(x)))", "self.a = nn.Linear(20, 72); self.b = nn.Linear(72, 40)",
     "torch.randn(90, W)"},
    {"sum_of_rows", "torch.logsumexp(self.c(x), 1, keepdim=True)", "self.c = nn.Linear(40, 150)",
     "torch.randn(70, 40)"},
    {"pooled", "F.max_pool1d(self.c(x).unsqueeze(1), 4).squeeze(1)", "self.c = nn.Linear(40, 152)",
     "torch.randn(70, 40)"},
    {"upper_triangle", "torch.triu(x @ more[0])", "pass", "torch.randn(70, 70), torch.randn(70, 70)"},
    {"convolution_of_one_tap", "self.c(x)", "self.c = nn.Conv2d(6, 37, 1)", "torch.randn(B, C, H, W)"},
};

class ScaledHalves : public ModulesOnSimulator<> {
 protected:
  static Bundle emitted(const Problem& problem) { return device_->emitted(problem, "fused", "", k_scaled); }
};

TEST_P(ScaledHalves, are_accepted) {
  const Problem read = problem(GetParam());
  expect_accepted_with(k_products, read, emitted(read), {});
}

TEST_P(ScaledHalves, are_accepted_in_small_tiles) {
  const Problem read = problem(GetParam());
  expect_accepted_with(k_products, read, emitted(read),
                       {{"TILE_M", 64}, {"TILE_N", 64}, {"THREAD_N", 16}, {"TILE_STAGES", 3}});
}

TEST_P(ScaledHalves, are_accepted_rounded) {
  const Problem read = problem(GetParam(), "tf32");
  expect_accepted_with(k_rounded_products, read, emitted(read), {});
}

TEST_P(ScaledHalves, are_accepted_rounded_in_small_tiles) {
  const Problem read = problem(GetParam(), "tf32");
  expect_accepted_with(k_rounded_products, read, emitted(read),
                       {{"TILE_M", 64}, {"TILE_N", 64}, {"THREAD_N", 16}, {"TILE_STAGES", 3}});
}

INSTANTIATE_TEST_SUITE_P(Products, ScaledHalves, testing::ValuesIn(k_cases),
                         [](const auto& one) { return one.param.name; });

const IntBindings k_half_patches = {{"SCALED", 1}, {"PATCHES", 1}, {"TAILS", 2}, {"JOINED", 2}};

const std::vector<ModuleCase> k_convolutions = {
    {"odd_extents", "self.c(x)", "self.c = nn.Conv2d(6, 37, 3, padding=1)"},
    {"several_chunks_of_channels", "self.c(x)", "self.c = nn.Conv2d(37, 40, 3)", "torch.randn(2, 37, 33, 41)"},
    {"strided_dilated_grouped", "self.c(x)",
     "self.c = nn.Conv2d(20, 38, (3, 2), stride=2, dilation=(1, 3), padding=(2, 1), groups=2)",
     "torch.randn(2, 20, 33, 40)"},
    {"in_1d", "torch.relu(self.c(x))", "self.c = nn.Conv1d(9, 37, 5, padding='same')", "torch.randn(4, 9, 161)"},
    {"in_3d", "self.c(x)", "self.c = nn.Conv3d(5, 37, (1, 2, 3), padding=(0, 1, 1), bias=False)",
     "torch.randn(2, 5, 6, 7, 8)"},
    {"transposed", "self.c(x)", "self.c = nn.ConvTranspose2d(16, 37, 3, padding=1)", "torch.randn(2, 16, 24, 40)"},
    {"phases", "self.c(x)", "self.c = nn.ConvTranspose2d(16, 37, 3, stride=2, padding=1, output_padding=1)",
     "torch.randn(2, 16, 12, 20)"},
    {"phases_of_one_tap", "self.c(x)", "self.c = nn.ConvTranspose2d(20, 24, 2, stride=2)",
     "torch.randn(2, 20, 12, 20)"},
    {"patches_of_other_sizes", "self.c(x * more[0])", "self.c = nn.Conv2d(20, 34, 3, padding=1)",
     "torch.randn(2, 20, 33, 41), torch.exp(torch.arange(20) * 1.5 - 20).reshape(1, 20, 1, 1)"},
    {"tiny_and_huge", "self.c(x * 1e-30)", "self.c = nn.Conv2d(16, 40, 3, padding=1, bias=False)",
     "torch.randn(2, 16, 21, 33)"},
};

class HalfPatches : public ScaledHalves {
 protected:
  static void expect_accepted(const char* text, const std::string& precision, const IntBindings& tunables) {
    const Problem read = problem(GetParam(), precision);
    expect_accepted_with(text, read, device_->emitted(read, "fused", "", k_half_patches), tunables);
  }
};

TEST_P(HalfPatches, are_accepted) {
  expect_accepted("keep_scaled_pixel(places", "", {});
}

TEST_P(HalfPatches, are_accepted_in_small_tiles) {
  expect_accepted("keep_scaled_pixel(places", "",
                  {{"TILE_M", 64}, {"TILE_N", 128}, {"THREAD_N", 16}, {"PATCH_K", 16}, {"PATCH_STEPS", 1}});
}

TEST_P(HalfPatches, are_accepted_rounded) {
  expect_accepted("keep_rounded_halves(places", "tf32_convolutions", {});
}

/// Of a line of an image for each warpgroup.
TEST_P(HalfPatches, are_accepted_in_wide_tiles) {
  if (std::string_view(GetParam().name) == "in_1d") {
    expect_accepted("Patch<false, false, ", "", {});
    return;
  }
  expect_accepted("Patch<true, PATCH_WIDE, ", "", {{"TILE_N", 128}, {"THREAD_N", 16}, {"PATCH_WIDE", 1}});
}

INSTANTIATE_TEST_SUITE_P(Convolutions, HalfPatches, testing::ValuesIn(k_convolutions),
                         [](const auto& one) { return one.param.name; });

class NoScaledHalves : public ScaledHalves {};

TEST_F(NoScaledHalves, are_factors_that_are_padded_or_of_16_bits) {
  const std::vector<ModuleCase> others = {
      {"convolution", "self.c(x)", "self.c = nn.Conv2d(6, 37, 3, padding=1)"},
      {"halves", "F.linear(x, more[0])", "pass", "torch.randn(37, 53).half(), torch.randn(29, 53).half()"},
  };
  for (const auto& one : others) {
    EXPECT_EQ(emitted(problem(one)).source.find(k_products), std::string::npos) << one.name;
  }
}

/// Of small products the splitting takes longer than it saves.
TEST_F(NoScaledHalves, are_small_products_unless_they_are_asked_for) {
  EXPECT_EQ(device_->emitted(problem(k_cases[1]), "fused").source.find(k_products), std::string::npos);
}

class BrokenScaledHalves : public NoScaledHalves {};

TEST_F(BrokenScaledHalves, are_rejected) {
  const Problem read = problem(k_cases[0]);
  expect_rejected(
      read, emitted(read),
      {
          {"large parts alone", "(1.0f / SMALL_SCALE)", "0.0f"},
          {"a small part of one factor alone", "multiply(small, row + TILE_K + step, column + step, true);", ""},
          {"small parts that are not scaled", "(1.0f / SMALL_SCALE)", "1.0f"},
          {"exponents of rows alone", "times_power(total, row_exponent + ", "times_power(total, row_exponent + 0 * "},
          {"steps behind the last are not zeros", "step + i < steps ? row[step + i] : 0.0f", "row[step + i]"},
      });
}

TEST_F(BrokenScaledHalves, are_rejected_rounded) {
  const Problem read = problem(k_cases[0], "tf32");
  expect_rejected(
      read, emitted(read),
      {
          {"exponents of columns alone", "times_power(total, row_exponent + ",
           "times_power(total, 0 * row_exponent + "},
          {"eight bits", "large[i] = __floats2half2_rn(numbers[2 * i] * scale, numbers[2 * i + 1] * scale)",
           "large[i] = __floats2half2_rn(floorf(numbers[2 * i] * scale / 128.0f) * 128.0f, numbers[2 * i + 1] * "
           "scale)"},
          {"steps behind the last are not zeros", "step + i < steps ? row[step + i] : 0.0f", "row[step + i]"},
      });
}

TEST_F(BrokenScaledHalves, are_rejected_where_columns_are_split_by_parts) {
  const Problem read = problem(k_cases[2]);
  expect_rejected(
      read, emitted(read),
      {{"the largest of one part", "for (int i = 0; i < SPLIT_PARTS; ++i) most", "for (int i = 1; i < 2; ++i) most"}});
}

TEST_F(BrokenScaledHalves, are_rejected_as_patches) {
  const auto grows = std::ranges::find(k_convolutions, "patches_of_other_sizes", &ModuleCase::name);
  const Problem read = problem(*grows);
  expect_rejected(read, device_->emitted(read, "fused", "", k_half_patches),
                  {{"sums that do not follow a larger patch", "sum[i][j] *= fewer;", ""},
                   {"exponents of pixels alone", "exponent + filter_exponents[", "exponent + 0 * filter_exponents["},
                   {"pixels without small parts", "(second - kept.y) * SMALL_SCALE", "0.0f"}});
}

}  // namespace
}  // namespace kw
