// Phases of transposed convolutions by patches, each through its own taps, on the CUDA simulator through the whole
// verifier: extents that tiles do not divide, phases of fewer taps and of none, along each axis.

#include <gtest/gtest.h>

#include "tests/programs/modules_on_simulator.hpp"

namespace kw {
namespace {

constexpr const char* k_image = "torch.rand(3, 10, 11, 13)";

/// Of a number of channels that fours do not divide, and of rows that no tile is full of.
const std::vector<ModuleCase> k_phased = {
    {"three_taps_of_two", "torch.relu(self.c(x))",
     "self.c = nn.ConvTranspose2d(10, 37, 3, stride=2, padding=1, output_padding=1)", k_image},
    {"five_taps_of_two", "self.c(x) * 2", "self.c = nn.ConvTranspose2d(10, 70, 5, stride=2, padding=2)", k_image},
    {"three_taps_of_two_in_3d", "self.c(x) + more[0]",
     "self.c = nn.ConvTranspose3d(9, 37, 3, stride=2, padding=1, output_padding=1)",
     "torch.rand(2, 9, 4, 6, 9), torch.rand(2, 37, 8, 12, 18)"},
    {"other_strides_along_each_axis", "torch.tanh(self.c(x))",
     "self.c = nn.ConvTranspose3d(5, 37, (3, 5, 4), stride=(2, 1, 3), padding=(1, 2, 0))", "torch.rand(2, 5, 4, 5, 9)"},
    {"a_stride_of_depth_alone", "self.c(x)",
     "self.c = nn.ConvTranspose3d(5, 37, (3, 3, 3), stride=(2, 1, 1), padding=(0, 2, 1))",
     "torch.rand(2, 5, 4, 5, 13)"},
    {"phases_without_taps", "self.c(x) - more[0]", "self.c = nn.ConvTranspose2d(10, 37, 2, stride=3, output_padding=1)",
     "torch.rand(3, 10, 7, 9), torch.rand(37, 1, 1)"},
    {"dilation_that_leaves_phases_without", "self.c(x)",
     "self.c = nn.ConvTranspose2d(10, 37, 3, stride=2, padding=1, dilation=2)", k_image},
    {"dilation_that_leaves_depths_without", "self.c(x)",
     "self.c = nn.ConvTranspose3d(5, 37, 3, stride=2, padding=1, dilation=2)", "torch.rand(2, 5, 4, 6, 11)"},
    {"dilation_that_mixes_phases", "self.c(x)",
     "self.c = nn.ConvTranspose2d(10, 37, 3, stride=2, padding=3, dilation=3)", k_image},
    {"groups", "torch.sigmoid(self.c(x))",
     "self.c = nn.ConvTranspose2d(20, 74, 3, stride=2, padding=1, output_padding=1, groups=2)",
     "torch.rand(2, 20, 11, 13)"},
    {"one_axis", "self.c(x)", "self.c = nn.ConvTranspose1d(10, 37, 3, stride=2, padding=1)", "torch.rand(3, 10, 75)"},
    {"one_axis_of_dilation", "self.c(x)", "self.c = nn.ConvTranspose1d(10, 37, 3, stride=2, padding=1, dilation=2)",
     "torch.rand(3, 10, 75)"},
    {"least_channel", "torch.amin(self.c(x), 1)",
     "self.c = nn.ConvTranspose2d(10, 70, 3, stride=2, padding=1, output_padding=1)", k_image},
};

/// With a stride along lines, which are as long as four divides or not, and not read by a reduction.
const std::vector<ModuleCase> k_joined = {
    {"lines_of_fours", "torch.relu(self.c(x)) + more[0]",
     "self.c = nn.ConvTranspose2d(10, 37, 3, stride=2, padding=1, output_padding=1)",
     "torch.rand(2, 10, 9, 14), torch.rand(28)"},
    {"lines_of_an_odd_length", "self.c(x) * 2", "self.c = nn.ConvTranspose2d(10, 70, 5, stride=2, padding=2)",
     "torch.rand(2, 10, 13, 17)"},
    {"all_taps", "torch.sigmoid(self.c(x)) * more[0]", "self.c = nn.ConvTranspose2d(10, 37, 4, stride=2, padding=1)",
     "torch.rand(2, 10, 9, 14), torch.rand(37, 18, 28)"},
    {"groups_of_rows", "torch.sigmoid(self.c(x))",
     "self.c = nn.ConvTranspose2d(20, 74, 3, stride=2, padding=1, output_padding=1, groups=2)",
     "torch.rand(2, 20, 9, 13)"},
    {"planes", "self.c(x) + more[0]", "self.c = nn.ConvTranspose3d(6, 37, 3, stride=2, padding=1, output_padding=1)",
     "torch.rand(2, 6, 4, 5, 9), torch.rand(2, 37, 8, 10, 18)"},
    {"values_of_planes_of_an_odd_number", "self.c(x) + more[0]",
     "self.c = nn.ConvTranspose3d(6, 37, 3, stride=2, padding=1)",
     "torch.rand(2, 6, 4, 5, 9), torch.rand(37, 7, 1, 1)"},
    {"a_stride_of_lines_alone", "self.c(x)", "self.c = nn.ConvTranspose2d(10, 37, 3, stride=(1, 2), padding=(2, 1))",
     "torch.rand(2, 10, 13, 17)"},
    {"one_phase_without_taps", "self.c(x)", "self.c = nn.ConvTranspose2d(10, 37, 3, stride=2, padding=1, dilation=2)",
     "torch.rand(2, 10, 13, 17)"},
    {"in_1d", "torch.relu(self.c(x))", "self.c = nn.ConvTranspose1d(10, 37, 3, stride=2, padding=1)",
     "torch.rand(3, 10, 75)"},
    {"three_phases", "torch.relu(self.c(x)) + more[0]", "self.c = nn.ConvTranspose2d(10, 37, 4, stride=3, padding=1)",
     "torch.rand(2, 10, 9, 13), torch.rand(37, 1, 1)"},
    {"three_phases_of_which_one_has_no_taps", "self.c(x) * more[0]",
     "self.c = nn.ConvTranspose2d(10, 70, 2, stride=3, output_padding=1)",
     "torch.rand(2, 10, 7, 9), torch.rand(21, 27)"},
    {"five_phases_with_taps_two_apart", "self.c(x)",
     "self.c = nn.ConvTranspose2d(20, 37, 3, stride=5, padding=1, dilation=2)", "torch.rand(2, 20, 9, 13)"},
    {"three_phases_of_lines_alone", "torch.tanh(self.c(x)) + more[0]",
     "self.c = nn.ConvTranspose3d(5, 37, (3, 5, 4), stride=(2, 1, 3), padding=(1, 2, 0))",
     "torch.rand(2, 5, 4, 5, 9), torch.rand(2, 37, 7, 5, 28)"},
    {"four_phases_in_1d", "torch.relu(self.c(x))", "self.c = nn.ConvTranspose1d(10, 37, 3, stride=4, padding=1)",
     "torch.rand(3, 10, 75)"},
    {"four_phases_of_half_results", "self.c(x).half()", "self.c = nn.ConvTranspose2d(20, 74, 3, stride=4, groups=2)",
     "torch.rand(2, 20, 9, 13)"},
    {"halves_of_results", "self.c(x).half()", "self.c = nn.ConvTranspose2d(10, 37, 4, stride=2, padding=1)",
     "torch.rand(2, 10, 9, 14)"},
};

constexpr const char* k_own_taps = "own_steps";
constexpr const char* k_joined_text = "The phases of lines, one after another";

class PhasesOnSimulator : public ModulesOnSimulator<> {
 protected:
  static bool has_own_taps(const ModuleCase& one, const IntBindings& structure) {
    return device_->emitted(problem(one), "fused", "", structure).source.find(k_own_taps) != std::string::npos;
  }

  /// The kernel with that text, and the verdict on it.
  static void expect_accepted(const char* text, const std::string& precision, IntBindings structure,
                              const IntBindings& tunables) {
    const Problem read = problem(GetParam(), precision);
    structure["PATCHES"] = 1;
    expect_accepted_with(text, read, device_->emitted(read, "fused", "", structure), tunables);
  }
};

using Phases = PhasesOnSimulator;

TEST_P(Phases, are_accepted) {
  expect_accepted(k_own_taps, "", {{"JOINED", 2}, {"PHASES", 1}}, {});
}

TEST_P(Phases, are_accepted_in_many_slices) {
  expect_accepted(k_own_taps, "", {{"JOINED", 2}, {"PHASES", 1}},
                  {{"TILE_M", 64}, {"TILE_N", 64}, {"THREAD_N", 16}, {"PATCH_K", 16}, {"PATCH_STEPS", 1}});
}

TEST_P(Phases, are_accepted_rounded_with_a_slice_for_all_taps) {
  expect_accepted(k_own_taps, "tf32_convolutions", {{"JOINED", 2}, {"PHASES", 1}},
                  {{"TILE_M", 64}, {"TILE_N", 128}, {"THREAD_N", 16}, {"PATCH_K", 32}, {"PATCH_STEPS", 4}});
}

INSTANTIATE_TEST_SUITE_P(Taps, Phases, testing::ValuesIn(k_phased),
                         [](const auto& one) { return std::string(one.param.name); });

class JoinedPhases : public PhasesOnSimulator {};

TEST_P(JoinedPhases, are_accepted) {
  expect_accepted(k_joined_text, "", {{"JOINED", 1}}, {});
}

TEST_P(JoinedPhases, are_accepted_rounded_in_other_tiles) {
  expect_accepted(k_joined_text, "tf32_convolutions", {{"JOINED", 1}},
                  {{"TILE_M", 64}, {"TILE_N", 128}, {"THREAD_N", 16}, {"PATCH_K", 16}, {"PATCH_STEPS", 2}});
}

TEST_P(JoinedPhases, are_accepted_in_wide_tiles) {
  if (std::string_view(GetParam().name).ends_with("in_1d")) {
    expect_accepted("Patch<false, false, ", "tf32_convolutions", {{"JOINED", 1}}, {});
    return;
  }
  expect_accepted(
      "Patch<true, PATCH_WIDE, ", "tf32_convolutions", {{"JOINED", 1}, {"SCALED", 2}},
      {{"TILE_M", 64}, {"TILE_N", 256}, {"THREAD_N", 32}, {"PATCH_K", 8}, {"PATCH_STEPS", 1}, {"PATCH_WIDE", 1}});
}

INSTANTIATE_TEST_SUITE_P(Lines, JoinedPhases, testing::ValuesIn(k_joined),
                         [](const auto& one) { return std::string(one.param.name); });

using NoPhases = PhasesOnSimulator;

TEST_F(NoPhases, go_through_all_taps_where_that_is_asked_for) {
  EXPECT_TRUE(has_own_taps(k_phased[0], {{"PATCHES", 1}}));
  EXPECT_FALSE(has_own_taps(k_phased[0], {{"PATCHES", 1}, {"PHASES", 2}}));
}

TEST_F(NoPhases, have_fewer_taps_where_the_stride_divides_the_filter) {
  EXPECT_FALSE(has_own_taps({"", "self.c(x)", "self.c = nn.ConvTranspose2d(10, 37, 4, stride=2, padding=1)", k_image},
                            {{"PATCHES", 1}, {"JOINED", 2}}));
  EXPECT_FALSE(
      has_own_taps({"", "self.c(x)", "self.c = nn.ConvTranspose2d(10, 37, 3, padding=1)", k_image}, {{"PATCHES", 1}}));
}

TEST_F(NoPhases, are_joined_where_that_is_turned_off) {
  const auto is_joined = [](const ModuleCase& one, const IntBindings& structure) {
    return device_->emitted(problem(one), "fused", "", structure).source.find(k_joined_text) != std::string::npos;
  };
  EXPECT_TRUE(is_joined(k_joined[0], {{"PATCHES", 1}}));
  EXPECT_FALSE(is_joined(k_joined[0], {{"PATCHES", 1}, {"JOINED", 2}}));
  // By estimate not where lines leave element by element, or all phases have all taps.
  EXPECT_FALSE(is_joined(k_joined[1], {{"PATCHES", 1}}));
  EXPECT_FALSE(is_joined(k_joined[2], {{"PATCHES", 1}}));
  // What a reduction reads.
  EXPECT_FALSE(is_joined(k_phased.back(), {{"PATCHES", 1}, {"JOINED", 1}}));
  EXPECT_FALSE(has_own_taps(k_phased.back(), {{"PATCHES", 1}}));
}

}  // namespace
}  // namespace kw
