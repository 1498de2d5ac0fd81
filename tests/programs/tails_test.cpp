// Kernels of contractions that reduce their own sums, over all rows or over windows of pixels, on the CUDA simulator
// through the whole verifier: extents that tiles do not divide, in every way of multiplying.

#include <gtest/gtest.h>

#include "tests/programs/modules_on_simulator.hpp"

namespace kw {
namespace {

/// Of 37 to 70 rows, so that a tile has rows that are none, or two tiles are joined.
const std::vector<ModuleCase> k_rows = {
    {"least_channel", "torch.tanh(torch.min(self.c(x), dim=1, keepdim=True)[0])", "self.c = nn.Conv2d(6, 70, 3)"},
    {"largest_channel_in_phases", "torch.amax(self.c(x) * 2, 1)",
     "self.c = nn.ConvTranspose2d(6, 37, 3, stride=2, padding=1, output_padding=1)"},
    {"sum_of_channels_in_3d", "torch.relu(self.c(x)).sum(1)", "self.c = nn.Conv3d(5, 37, 3, padding=1)",
     "torch.rand(2, 5, 3, 7, 9)"},
    {"mean_of_channels_and_more", "torch.sigmoid(self.c(x) - more[0]).mean(1, keepdim=True) * more[1]",
     "self.c = nn.Conv2d(6, 45, 3, padding=1)", "torch.rand(B, C, H, W), torch.rand(B, 1, H, W), torch.rand(W)"},
    {"channels_in_1d", "torch.amax(self.c(x), 1)", "self.c = nn.Conv1d(6, 66, 5)", "torch.rand(3, 6, 150)"},
    {"infinite_channels", "torch.clamp(torch.amax((torch.relu(self.c(x)) + 0.5) / more[0], 1), -3, 3)",
     "self.c = nn.Conv2d(6, 40, 3, padding=1)", "torch.rand(B, C, H, W), torch.randint(0, 2, (B, 1, H, W))"},
    {"channels_that_are_no_numbers", "torch.nan_to_num(torch.amin(self.c(x) + 0.0 / more[0], 1), 7.0)",
     "self.c = nn.Conv2d(6, 40, 3, padding=1)", "torch.rand(B, C, H, W), torch.randint(0, 2, (B, 1, H, W))"},
    {"sums_in_f16", "torch.relu(self.c(x)).amax(1).half()", "self.c = nn.Conv2d(6, 40, 3)"},
};

/// Rows of a matrix, where nothing is multiplied by patches.
const std::vector<ModuleCase> k_matrices = {
    {"largest_row", "torch.amax(torch.sin(x @ more[0]), 0)", "pass", "torch.rand(90, 40), torch.rand(40, 150)"},
    {"least_row_of_batches", "torch.amin(torch.bmm(x, more[0]), 1)", "pass",
     "torch.rand(3, 71, 35), torch.rand(3, 35, 45)"},
};

/// With pixels that belong to no window.
const std::vector<ModuleCase> k_windows = {
    {"largest_of_four", "F.max_pool2d(self.c(x), 2)", "self.c = nn.Conv2d(6, 70, 3)", "torch.rand(3, 6, 21, 39)"},
    {"mean_of_sixteen", "F.avg_pool2d(torch.tanh(self.c(x)), 4) * 2", "self.c = nn.Conv2d(6, 37, 3)",
     "torch.rand(3, 6, 21, 39)"},
    {"largest_of_a_line", "torch.relu(F.max_pool2d(self.c(x) - more[0], (1, 8)))",
     "self.c = nn.Conv2d(6, 37, 3, padding=1)", "torch.rand(2, 6, 11, 37), torch.rand(2, 37, 11, 37)"},
    {"largest_of_a_column_of_groups", "F.max_pool2d(self.c(x), (4, 1))", "self.c = nn.Conv2d(6, 74, 3, groups=2)",
     "torch.rand(2, 6, 20, 30)"},
    {"in_1d", "F.max_pool1d(self.c(x), 4)", "self.c = nn.Conv1d(6, 37, 5)", "torch.rand(3, 6, 150)"},
    {"in_planes_of_3d", "F.max_pool3d(torch.sin(self.c(x)), (1, 2, 2))", "self.c = nn.Conv3d(5, 37, 3, padding=1)",
     "torch.rand(2, 5, 3, 9, 19)"},
    {"over_planes_of_3d", "F.max_pool3d(torch.sin(self.c(x)), 2) * 3", "self.c = nn.Conv3d(5, 37, 3, padding=1)",
     "torch.rand(2, 5, 5, 9, 19)"},
    {"means_over_planes_of_3d", "F.avg_pool3d(torch.relu(self.c(x)), (2, 4, 2))", "self.c = nn.Conv3d(5, 37, 3)",
     "torch.rand(2, 5, 7, 11, 19)"},
    {"largest_of_what_rises", "F.max_pool2d(torch.tanh(self.c(x)) * 2 + more[0], 4)", "self.c = nn.Conv2d(6, 37, 3)",
     "torch.rand(3, 6, 21, 39), torch.rand(37, 1, 1)"},
    {"of_a_strided_convolution", "F.max_pool2d(self.c(x), 2)", "self.c = nn.Conv2d(6, 37, 3, stride=2, dilation=2)",
     "torch.rand(2, 6, 31, 53)"},
    {"infinite_pixels", "torch.clamp(F.max_pool2d((torch.relu(self.c(x)) + 0.5) / more[0], 2), -3, 3)",
     "self.c = nn.Conv2d(6, 40, 3, padding=1)", "torch.rand(2, 6, 11, 21), torch.randint(0, 2, (2, 40, 1, 1))"},
};

/// Whose tiles have pixels that are none.
const std::vector<ModuleCase> k_pixels = {
    {"mean_of_an_image", "F.adaptive_avg_pool2d(F.gelu(self.c(x)), 1)", "self.c = nn.Conv2d(6, 70, 3)",
     "torch.rand(3, 6, 21, 39)"},
    {"largest_of_groups", "torch.amax(torch.sin(self.c(x) * more[0]), (2, 3)) - more[1]",
     "self.c = nn.Conv2d(6, 74, 3, groups=2)", "torch.rand(2, 6, 20, 30), torch.rand(18, 28), torch.rand(74)"},
    {"sum_in_1d", "torch.tanh(self.c(x)).sum(2, keepdim=True)", "self.c = nn.Conv1d(6, 37, 5)",
     "torch.rand(3, 6, 150)"},
    {"mean_in_3d", "torch.relu(self.c(x)).mean((2, 3, 4))", "self.c = nn.Conv3d(5, 37, 3, padding=1)",
     "torch.rand(2, 5, 3, 9, 19)"},
    {"least_that_is_no_number", "torch.nan_to_num(torch.amin(self.c(x) + 0.0 / more[0], (2, 3)), 7.0)",
     "self.c = nn.Conv2d(6, 40, 3, padding=1)", "torch.rand(2, 6, 11, 21), torch.randint(0, 2, (2, 40, 1, 1))"},
};

constexpr const char* k_gathers_pixels = "* part_count + part]";
constexpr const char* k_gathers_rows = "parts[first_row / TILE_M";
constexpr const char* k_gathers_windows = "windows_of_eight";

class TailsOnSimulator : public ModulesOnSimulator<> {
 protected:
  /// The kernel with that text, and the verdict on it.
  static void expect_accepted(const char* text, const std::string& precision, const IntBindings& structure,
                              const std::string& arch = "", const IntBindings& tunables = {}) {
    const Problem read = problem(GetParam(), precision);
    expect_accepted_with(text, read, device_->emitted(read, "fused", arch, structure), tunables);
  }
};

class RowTails : public TailsOnSimulator {};

TEST_P(RowTails, are_accepted_by_patches) {
  expect_accepted(k_gathers_rows, "", {{"PATCHES", 1}});
}

TEST_P(RowTails, are_accepted_by_rounded_patches_in_one_tile_of_rows) {
  expect_accepted(k_gathers_rows, "tf32", {{"PATCHES", 1}}, "", {{"TILE_M", 128}, {"TILE_N", 128}, {"THREAD_N", 32}});
}

TEST_P(RowTails, are_accepted_of_gathered_elements) {
  expect_accepted(k_gathers_rows, "", {{"PATCHES", 2}});
}

TEST_P(RowTails, are_accepted_of_gathered_rounded_elements) {
  expect_accepted(k_gathers_rows, "tf32", {{"PATCHES", 2}});
}

TEST_P(RowTails, are_accepted_as_older_chips_have_them) {
  expect_accepted(k_gathers_rows, "", {}, "sm_80");
  expect_accepted(k_gathers_rows, "", {}, "sm_75");
}

INSTANTIATE_TEST_SUITE_P(Channels, RowTails, testing::ValuesIn(k_rows),
                         [](const auto& one) { return std::string(one.param.name); });

class MatrixTails : public TailsOnSimulator {};

TEST_P(MatrixTails, are_accepted) {
  expect_accepted(k_gathers_rows, "", {});
  expect_accepted(k_gathers_rows, "tf32", {});
  expect_accepted(k_gathers_rows, "", {}, "sm_80");
}

INSTANTIATE_TEST_SUITE_P(Rows, MatrixTails, testing::ValuesIn(k_matrices),
                         [](const auto& one) { return std::string(one.param.name); });

class WindowTails : public TailsOnSimulator {};

TEST_P(WindowTails, are_accepted) {
  expect_accepted(k_gathers_windows, "", {{"PATCHES", 1}});
}

TEST_P(WindowTails, are_accepted_of_wide_tiles) {
  expect_accepted(k_gathers_windows, "tf32", {{"PATCHES", 1}}, "",
                  {{"TILE_N", 128}, {"THREAD_N", 16}, {"PATCH_K", 8}, {"PATCH_STEPS", 1}});
}

INSTANTIATE_TEST_SUITE_P(Windows, WindowTails, testing::ValuesIn(k_windows),
                         [](const auto& one) { return std::string(one.param.name); });

class PixelTails : public TailsOnSimulator {};

TEST_P(PixelTails, are_accepted) {
  expect_accepted(k_gathers_pixels, "", {{"PATCHES", 1}});
}

TEST_P(PixelTails, are_accepted_of_large_tiles) {
  expect_accepted(k_gathers_pixels, "tf32", {{"PATCHES", 1}}, "",
                  {{"TILE_M", 128}, {"TILE_N", 256}, {"THREAD_N", 32}, {"PATCH_K", 8}, {"PATCH_STEPS", 1}});
}

INSTANTIATE_TEST_SUITE_P(Pixels, PixelTails, testing::ValuesIn(k_pixels),
                         [](const auto& one) { return std::string(one.param.name); });

using Tails = TailsOnSimulator;

bool has_tail(const ProgramVerdicts& device, const Problem& problem, const IntBindings& structure) {
  const auto source = device.emitted(problem, "fused", "", structure).source;
  const auto has = [&](const char* text) { return source.find(text) != std::string::npos; };
  return has(k_gathers_rows) || has(k_gathers_windows) || has(k_gathers_pixels);
}

TEST_F(Tails, are_none_where_they_are_turned_off) {
  for (const auto& one : {k_rows[0], k_windows[0], k_pixels[0]}) {
    EXPECT_TRUE(has_tail(*device_, problem(one), {{"PATCHES", 1}})) << one.name;
    EXPECT_FALSE(has_tail(*device_, problem(one), {{"PATCHES", 1}, {"TAILS", 2}})) << one.name;
  }
}

/// Windows that overlap, are padded, are not as wide as an eighth of a tile, lie in several planes or in no patch; rows
/// of groups; and sums that somebody else reads too.
TEST_F(Tails, are_none_of_what_no_tile_has_whole) {
  const char* const conv = "self.c = nn.Conv2d(6, 40, 3)";
  const std::vector<ModuleCase> k_others = {
      {"overlapping", "F.max_pool2d(self.c(x), 2, stride=1)", conv},
      {"padded", "F.max_pool2d(self.c(x), 2, padding=1)", conv},
      {"of_nine", "F.max_pool2d(self.c(x), 3)", conv},
      {"of_planes_alone", "F.max_pool3d(self.c(x), (2, 1, 1))", "self.c = nn.Conv3d(5, 40, 3, padding=1)",
       "torch.rand(2, 5, 6, 7, 9)"},
      {"of_groups", "torch.amax(self.c(x), 1)", "self.c = nn.Conv2d(6, 80, 3, groups=2)"},
      {"read_twice", "torch.softmax(self.c(x), 1)", conv},
      {"of_lines", "torch.amax(self.c(x), 2)", conv},
  };
  for (const auto& one : k_others) {
    EXPECT_FALSE(has_tail(*device_, problem(one), {{"PATCHES", 1}})) << one.name;
  }
  EXPECT_FALSE(has_tail(*device_, problem(k_windows[0]), {{"PATCHES", 2}}));
}

/// What tiles of rows have left of a column is joined: one tile's number alone is wrong.
TEST_F(Tails, are_rejected_where_one_tile_of_rows_is_left_out) {
  const Problem read = problem(k_rows[0]);
  Bundle bundle = device_->emitted(read, "fused", "", {{"PATCHES", 1}});
  const std::string all = "part < ((70 + TILE_M - 1) / TILE_M)";
  const auto at = bundle.source.find(all);
  ASSERT_NE(at, std::string::npos) << bundle.source;
  bundle.source.replace(at, all.size(), "part < 1");
  const Verdict verdict = device_->verdict_of(read, bundle);
  EXPECT_EQ(verdict.status, VerdictStatus::rejected);
  EXPECT_EQ(verdict.reason, Reason::wrong_result) << verdict.message;
}

}  // namespace
}  // namespace kw
