// Direct convolutions, whose threads multiply and add in registers, on the CUDA simulator through the whole verifier:
// extents that no block divides, in one to three dimensions, transposed ones with all phases of a line in a thread.

#include <gtest/gtest.h>

#include "tests/programs/modules_on_simulator.hpp"

namespace kw {
namespace {

/// Pixels and channels that no block divides, of several images.
const std::vector<ModuleCase> k_forward = {
    {"of_two_dimensions", "self.c(x)", "self.c = nn.Conv2d(6, 37, 3)", "torch.rand(3, 6, 21, 39)"},
    {"of_one_dimension", "torch.relu(self.c(x))", "self.c = nn.Conv1d(6, 66, 5, padding=2, bias=False)",
     "torch.rand(3, 6, 250)"},
    {"of_three_dimensions", "self.c(x) + more[0]", "self.c = nn.Conv3d(3, 19, 3, padding=1)",
     "torch.rand(2, 3, 5, 7, 11), torch.rand(2, 19, 5, 7, 11)"},
    {"strided_and_dilated", "torch.tanh(self.c(x))",
     "self.c = nn.Conv2d(5, 34, (3, 4), stride=(2, 3), dilation=(2, 1), "
     "padding=(3, 2))",
     "torch.rand(3, 5, 31, 53)"},
    {"of_groups", "self.c(x) * more[0]", "self.c = nn.Conv2d(6, 74, 3, groups=2, padding=1)",
     "torch.rand(2, 6, 20, 30), torch.rand(74, 1, 1)"},
    {"of_one_tap", "self.c(x)", "self.c = nn.Conv2d(7, 40, 1, stride=2)", "torch.rand(3, 7, 30, 41)"},
    {"of_taps_along_a_column", "torch.where(x[:, :1, 1:-1] > 0.5, self.c(x), more[0])",
     "self.c = nn.Conv2d(4, 33, (3, 1))", "torch.rand(3, 4, 20, 30), torch.rand(33, 1, 1)"},
    {"of_more_steps_than_fit", "self.c(x)", "self.c = nn.Conv2d(45, 20, 3, padding=1)", "torch.rand(2, 45, 12, 20)"},
    {"of_a_large_window", "self.c(x)", "self.c = nn.Conv2d(3, 20, 11, stride=4, padding=5)",
     "torch.rand(3, 3, 50, 61)"},
    {"in_f16", "self.c(x).half()", "self.c = nn.Conv2d(6, 37, 3)"},
};

const std::vector<ModuleCase> k_transposed = {
    {"without_a_stride", "self.c(x)", "self.c = nn.ConvTranspose2d(6, 37, (3, 2), padding=1)",
     "torch.rand(2, 6, 13, 21)"},
    {"by_phases", "torch.tanh(self.c(x))",
     "self.c = nn.ConvTranspose2d(6, 34, 3, stride=2, padding=1, output_padding=1)", "torch.rand(2, 6, 13, 17)"},
    {"by_odd_lines", "self.c(x) + more[0]", "self.c = nn.ConvTranspose2d(6, 34, 3, stride=2, padding=1)",
     "torch.rand(2, 6, 13, 17), torch.rand(34, 25, 33)"},
    {"and_dilated", "self.c(x)",
     "self.c = nn.ConvTranspose2d(6, 40, (3, 4), stride=(3, 2), padding=(1, 2), dilation=(2, 3))",
     "torch.rand(2, 6, 11, 14)"},
    {"and_dilated_as_it_is_strided", "self.c(x)", "self.c = nn.ConvTranspose1d(6, 40, 3, stride=2, dilation=2)",
     "torch.rand(2, 6, 101)"},
    {"in_1d_of_groups", "self.c(x)", "self.c = nn.ConvTranspose1d(10, 70, 5, stride=2, dilation=3, groups=2)",
     "torch.rand(3, 10, 201)"},
    {"in_3d", "self.c(x)", "self.c = nn.ConvTranspose3d(3, 18, 3, stride=2, padding=1)", "torch.rand(2, 3, 4, 5, 9)"},
    {"with_a_wide_stride", "self.c(x)", "self.c = nn.ConvTranspose2d(5, 20, 3, stride=5)", "torch.rand(2, 5, 6, 13)"},
    {"with_fewer_taps_than_phases", "self.c(x)", "self.c = nn.ConvTranspose2d(5, 20, 2, stride=4)",
     "torch.rand(2, 5, 6, 13)"},
};

constexpr const char* k_direct_text = "multiply_pixels(places";
const IntBindings k_directly = {{"DIRECT", 1}};

class DirectOnSimulator : public ModulesOnSimulator<> {
 protected:
  static void expect_accepted(const IntBindings& tunables, const std::string& arch = "",
                              const std::string& precision = "", const IntBindings& structure = k_directly,
                              const char* text = k_direct_text) {
    const Problem read = problem(GetParam(), precision);
    const Bundle bundle = device_->emitted(read, "fused", arch, structure);
    EXPECT_NE(bundle.source.find(k_direct_text), std::string::npos) << bundle.source;
    expect_accepted_with(text, read, bundle, tunables);
  }
};

TEST_P(DirectOnSimulator, is_accepted) {
  expect_accepted({{"DIRECT_PIXELS", 2}, {"DIRECT_CHANNELS", 16}, {"DIRECT_THREADS", 128}});
}

TEST_P(DirectOnSimulator, is_accepted_of_other_blocks) {
  expect_accepted({{"DIRECT_PIXELS", 1}, {"DIRECT_CHANNELS", 32}, {"DIRECT_THREADS", 64}}, "sm_80");
  expect_accepted({{"DIRECT_PIXELS", 4}, {"DIRECT_CHANNELS", 8}, {"DIRECT_THREADS", 64}}, "", "tf32_convolutions");
}

INSTANTIATE_TEST_SUITE_P(Forward, DirectOnSimulator, testing::ValuesIn(k_forward),
                         [](const auto& one) { return std::string(one.param.name); });
INSTANTIATE_TEST_SUITE_P(Transposed, DirectOnSimulator, testing::ValuesIn(k_transposed),
                         [](const auto& one) { return std::string(one.param.name); });

/// Windows of outputs that a thread reduces, with outputs that belong to none; whole axes; phases among them or not.
const std::vector<ModuleCase> k_windows = {
    {"largest_of_four", "F.max_pool2d(self.c(x), 2)", "self.c = nn.Conv2d(6, 37, 3)", "torch.rand(3, 6, 21, 39)"},
    {"mean_of_fifteen", "F.avg_pool2d(torch.tanh(self.c(x)), (3, 5)) * more[0]",
     "self.c = nn.Conv2d(3, 37, 3, padding=1)", "torch.rand(3, 3, 22, 39), torch.rand(37, 1, 1)"},
    {"in_3d", "F.max_pool3d(torch.sin(self.c(x)), 2) * 3", "self.c = nn.Conv3d(3, 19, 3, padding=1)",
     "torch.rand(2, 3, 5, 9, 19)"},
    {"in_1d_of_groups", "F.max_pool1d(self.c(x) - more[0], 4)", "self.c = nn.Conv1d(6, 74, 5, groups=2)",
     "torch.rand(3, 6, 150), torch.rand(74, 146)"},
    {"least_of_an_axis", "torch.amin(self.c(x) * more[0], 2)", "self.c = nn.Conv3d(3, 19, 3)",
     "torch.rand(2, 3, 7, 9, 19), torch.rand(7, 17)"},
    {"sum_of_an_axis", "torch.sigmoid(torch.sin(self.c(x)).sum(3, keepdim=True))",
     "self.c = nn.Conv2d(3, 20, 3, stride=2, padding=1)", "torch.rand(2, 3, 19, 25)"},
    {"largest_of_phases", "F.max_pool2d(self.c(x), 2)", "self.c = nn.ConvTranspose2d(5, 18, 3, stride=2, padding=1)",
     "torch.rand(2, 5, 13, 17)"},
    {"largest_of_phases_in_3d", "F.max_pool3d(torch.sin(self.c(x)) * more[0], 2)",
     "self.c = nn.ConvTranspose3d(3, 18, 3, stride=2, padding=1, output_padding=1)",
     "torch.rand(2, 3, 4, 5, 9), torch.rand(18, 8, 10, 18)"},
    {"mean_of_several_steps", "F.avg_pool2d(torch.sin(self.c(x)), 4)",
     "self.c = nn.ConvTranspose2d(5, 18, 3, stride=2, padding=1)", "torch.rand(2, 5, 13, 17)"},
    {"largest_of_phases_of_lines", "F.max_pool2d(torch.sin(self.c(x)), (2, 1))",
     "self.c = nn.ConvTranspose2d(5, 18, 3, stride=2, padding=1)", "torch.rand(2, 5, 13, 17)"},
    {"largest_of_phases_across", "F.max_pool2d(torch.sin(self.c(x) + more[0]), (1, 2))",
     "self.c = nn.ConvTranspose2d(5, 18, 3, stride=2, padding=1)", "torch.rand(2, 5, 13, 17), torch.rand(25, 33)"},
    {"largest_of_what_rises", "F.max_pool2d(torch.tanh(self.c(x)) * 2 + more[0], 4)", "self.c = nn.Conv2d(6, 37, 3)",
     "torch.rand(3, 6, 21, 39), torch.rand(37, 1, 1)"},
    {"infinite", "torch.clamp(F.max_pool2d((torch.relu(self.c(x)) + 0.5) / more[0], 2), -3, 3)",
     "self.c = nn.Conv2d(6, 40, 3, padding=1)", "torch.rand(2, 6, 11, 21), torch.randint(0, 2, (2, 40, 1, 1))"},
    {"no_number", "torch.nan_to_num(torch.amin(self.c(x) + 0.0 / more[0], 2), 7.0)",
     "self.c = nn.Conv2d(6, 40, 3, padding=1)", "torch.rand(2, 6, 11, 21), torch.randint(0, 2, (2, 40, 1, 1))"},
    {"in_f16", "F.max_pool2d(self.c(x), 2).half()", "self.c = nn.Conv2d(6, 40, 3)"},
};

constexpr const char* k_direct_windows = "for (int window = 0";
const IntBindings k_with_tails = {{"DIRECT", 1}, {"TAILS", 1}};

class DirectWindows : public DirectOnSimulator {};

TEST_P(DirectWindows, are_accepted) {
  expect_accepted({{"DIRECT_PIXELS", 2}, {"DIRECT_CHANNELS", 16}, {"DIRECT_THREADS", 128}}, "", "", k_with_tails,
                  k_direct_windows);
}

TEST_P(DirectWindows, are_accepted_of_other_blocks) {
  expect_accepted({{"DIRECT_PIXELS", 4}, {"DIRECT_CHANNELS", 8}, {"DIRECT_THREADS", 64}}, "sm_80", "", k_with_tails,
                  k_direct_windows);
}

INSTANTIATE_TEST_SUITE_P(Windows, DirectWindows, testing::ValuesIn(k_windows),
                         [](const auto& one) { return std::string(one.param.name); });

/// Reductions of all channels, of which a thread has all, or some at a time.
const std::vector<ModuleCase> k_channels = {
    {"log_sum_exp_of_phases", "torch.sigmoid(torch.logsumexp(self.c(x) * 3, 1, keepdim=True)) - more[0]",
     "self.c = nn.ConvTranspose2d(5, 13, 3, stride=2, padding=1)", "torch.rand(2, 5, 13, 17), torch.rand(1, 1, 33)"},
    {"log_sum_exp", "torch.logsumexp(torch.sin(self.c(x)), 1)", "self.c = nn.Conv3d(3, 37, 3, padding=1)",
     "torch.rand(2, 3, 4, 7, 9)"},
    {"largest", "torch.tanh(torch.amax(self.c(x) + more[0], 1))", "self.c = nn.Conv2d(6, 37, 3)",
     "torch.rand(B, C, H, W), torch.rand(10, 18)"},
    {"mean", "torch.relu(self.c(x)).mean(1, keepdim=True) * more[0]", "self.c = nn.Conv1d(6, 21, 5)",
     "torch.rand(3, 6, 150), torch.rand(146)"},
    {"no_number", "torch.nan_to_num(torch.amin(self.c(x) + 0.0 / more[0], 1), 7.0)",
     "self.c = nn.Conv2d(6, 20, 3, padding=1)", "torch.rand(B, C, H, W), torch.randint(0, 2, (B, 1, H, W))"},
};

constexpr const char* k_direct_rows = "if (turn / tiles_down == 0)";

class DirectChannels : public DirectOnSimulator {};

TEST_P(DirectChannels, are_accepted) {
  expect_accepted({{"DIRECT_PIXELS", 2}, {"DIRECT_CHANNELS", 16}, {"DIRECT_THREADS", 128}}, "", "", k_with_tails,
                  k_direct_rows);
}

TEST_P(DirectChannels, are_accepted_some_at_a_time) {
  expect_accepted({{"DIRECT_PIXELS", 1}, {"DIRECT_CHANNELS", 8}, {"DIRECT_THREADS", 64}}, "sm_80", "", k_with_tails,
                  k_direct_rows);
}

INSTANTIATE_TEST_SUITE_P(Channels, DirectChannels, testing::ValuesIn(k_channels),
                         [](const auto& one) { return std::string(one.param.name); });

using DirectConvolutions = DirectOnSimulator;

std::string emitted_text(const ProgramVerdicts& device, const ModuleCase& one, const IntBindings& structure) {
  return device
      .emitted(problem_of_module(module_of(one.result, one.init, one.inputs), "m.py"), "fused", "", structure, 132)
      .source;
}

/// By default where there are many sums of few steps; and where another way is asked for, or none of these, not.
TEST_F(DirectConvolutions, are_those_of_few_channels) {
  const ModuleCase few{"few", "self.c(x)", "self.c = nn.Conv2d(3, 16, 3)", "torch.rand(64, 3, 256, 256)"};
  EXPECT_NE(emitted_text(*device_, few, {}).find(k_direct_text), std::string::npos);
  for (const IntBindings& structure : {IntBindings{{"DIRECT", 2}}, IntBindings{{"PATCHES", 1}}})
    EXPECT_EQ(emitted_text(*device_, few, structure).find(k_direct_text), std::string::npos);
  for (const ModuleCase& one :
       {ModuleCase{"small", "self.c(x)", "self.c = nn.Conv2d(3, 16, 3)", "torch.rand(2, 3, 64, 64)"},
        ModuleCase{"wide", "self.c(x)", "self.c = nn.Conv2d(3, 64, 3)", "torch.rand(64, 3, 256, 256)"},
        ModuleCase{"long", "self.c(x)", "self.c = nn.Conv2d(24, 32, 3)", "torch.rand(64, 24, 128, 128)"}})
    EXPECT_EQ(emitted_text(*device_, one, {}).find(k_direct_text), std::string::npos) << one.name;
}

/// Of groups, of sums that are read again behind the reduction, and of other axes.
TEST_F(DirectConvolutions, reduce_no_channels_that_are_not_all) {
  const auto has_rows = [&](const ModuleCase& one, const IntBindings& structure) {
    return emitted_text(*device_, one, structure).find(k_direct_rows) != std::string::npos;
  };
  const char* const forward = "self.c = nn.Conv2d(6, 20, 3)";
  for (const ModuleCase& one :
       {ModuleCase{"groups", "torch.amax(self.c(x), 1)", "self.c = nn.Conv2d(6, 20, 3, groups=2)"},
        ModuleCase{"read_again", "torch.softmax(self.c(x), 1)", forward},
        ModuleCase{"lines", "torch.logsumexp(self.c(x), 2)", forward}})
    EXPECT_FALSE(has_rows(one, k_with_tails)) << one.name;
  EXPECT_TRUE(has_rows(k_channels[0], k_with_tails));
  EXPECT_FALSE(has_rows(k_channels[0], {{"DIRECT", 1}, {"TAILS", 2}}));
  EXPECT_FALSE(has_rows(k_channels[0], {{"DIRECT", 1}}));
}

/// Windows that overlap, are padded, or cut a stride's phases apart; sums that somebody else reads too; and none where
/// they are turned off, or leave too few outputs for a device.
TEST_F(DirectConvolutions, reduce_no_other_windows) {
  const auto has_windows = [&](const ModuleCase& one, const IntBindings& structure) {
    return emitted_text(*device_, one, structure).find(k_direct_windows) != std::string::npos;
  };
  const char* const forward = "self.c = nn.Conv2d(6, 37, 3)";
  const char* const phases = "self.c = nn.ConvTranspose2d(6, 37, 3, stride=2)";
  for (const ModuleCase& one : {ModuleCase{"overlapping", "F.max_pool2d(self.c(x), 2, stride=1)", forward},
                                ModuleCase{"padded", "F.max_pool2d(self.c(x), 2, padding=1)", forward},
                                ModuleCase{"of_three_in_phases", "F.max_pool2d(self.c(x), 3)", phases},
                                ModuleCase{"all_of_an_axis_in_phases", "torch.amax(self.c(x), 3)", phases},
                                ModuleCase{"of_channels", "torch.amax(self.c(x), 1)", forward},
                                ModuleCase{"of_channels_and_lines", "torch.amax(self.c(x), (1, 2))", forward},
                                ModuleCase{"of_all", "torch.amax(self.c(x), (0, 2, 3))", forward}})
    EXPECT_FALSE(has_windows(one, k_with_tails)) << one.name;
  EXPECT_TRUE(has_windows(k_windows[0], k_with_tails));
  EXPECT_FALSE(has_windows(k_windows[0], {{"DIRECT", 1}, {"TAILS", 2}}));
  EXPECT_FALSE(has_windows(k_windows[0], {{"DIRECT", 1}}));
}

/// An image of f16, and a window that is too wide to be written out.
TEST_F(DirectConvolutions, are_none_of_other_images_and_wide_windows) {
  for (const ModuleCase& one :
       {ModuleCase{"f16", "self.c(x)", "self.c = nn.Conv2d(6, 37, 3, dtype=torch.float16)",
                   "torch.rand(3, 6, 21, 39, dtype=torch.float16)"},
        ModuleCase{"wide", "self.c(x)", "self.c = nn.Conv2d(2, 9, 40)", "torch.rand(1, 2, 43, 80)"}})
    EXPECT_EQ(emitted_text(*device_, one, k_directly).find(k_direct_text), std::string::npos) << one.name;
}

/// A filter that is read before all threads have stored theirs of it is a race.
TEST_F(DirectConvolutions, are_rejected_without_their_barrier) {
  const Problem read = problem(k_forward[0]);
  Bundle bundle = device_->emitted(read, "fused", "", k_directly);
  const std::string stored = "      filter[at] = element;\n    }\n", barrier = "    __syncthreads();\n";
  const auto at = bundle.source.find(stored + barrier);
  ASSERT_NE(at, std::string::npos) << bundle.source;
  bundle.source.erase(at + stored.size(), barrier.size());
  const Verdict verdict = device_->verdict_of(read, bundle);
  EXPECT_EQ(verdict.status, VerdictStatus::rejected);
  EXPECT_EQ(verdict.reason, Reason::sanitizer_report) << verdict.message;
}

}  // namespace
}  // namespace kw
