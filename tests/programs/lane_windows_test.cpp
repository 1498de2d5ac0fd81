// Windows of sixteen neighbours on a processor, through the whole verifier.

#include <gtest/gtest.h>

#include "tests/programs/modules_on_processor.hpp"

namespace kw {
namespace {

constexpr const char* k_sixteen = "float16 sixteen";
constexpr const char* k_pairs = "every_second16(x_";
constexpr const char* k_gathered = "gather16(x_";
constexpr const char* k_of_the_family = "LINES_PER_ITEM";
constexpr const char* k_other_family = "";

struct WindowCase {
  ModuleCase module;
  const char* text;  ///< that the kernel has
};

/// Lines that sixteen does not divide.
const std::vector<WindowCase> k_windows = {
    {{"largest", "F.max_pool2d(x, 3, stride=1, padding=1)", "", "torch.randn(2, 3, 9, 49)"}, k_sixteen},
    {{"largest_of_far_ones", "F.max_pool2d(x, (2, 3), stride=1, padding=1, dilation=(1, 4))", "",
      "torch.randn(2, 3, 9, 75)"},
     k_sixteen},
    {{"smallest", "-F.max_pool1d(-x, 5, stride=1)", "", "torch.randn(3, 7, 61)"}, k_sixteen},
    {{"mean", "F.avg_pool1d(x, 8, stride=1, padding=4)", "", "torch.randn(3, 7, 83)"}, k_sixteen},
    {{"mean_of_what_is_there", "F.avg_pool2d(x, 3, stride=1, padding=1, count_include_pad=False)", "",
      "torch.randn(2, 3, 9, 45)"},
     k_sixteen},
    {{"every_second", "F.avg_pool2d(x, 2)", "", "torch.randn(2, 3, 10, 91)"}, k_pairs},
    {{"every_second_with_edges", "F.max_pool3d(x, 3, stride=2, padding=1)", "", "torch.randn(2, 3, 9, 7, 91)"},
     k_pairs},
    {{"every_third", "F.max_pool1d(x, 4, stride=3, padding=2)", "", "torch.randn(2, 3, 131)"}, k_gathered},
    {{"every_second_of_f16", "F.max_pool2d(x, 2)", "", "torch.randn(2, 3, 10, 91).half()"}, k_other_family},
    {{"lines_by_axes", "F.max_pool2d(x, 3, stride=1, padding=1)", "", "torch.randn(B, C, H, W * 2)"}, k_sixteen},
    {{"channels_alone", "F.relu(self.c(x))", "self.c = nn.Conv2d(6, 6, 3, padding=1, groups=6)",
      "torch.randn(2, 6, 9, 45)"},
     k_sixteen},
    {{"channels_alone_with_strides", "self.c(x)",
      "self.c = nn.Conv2d(6, 6, (3, 5), stride=2, padding=(0, 2), dilation=(2, 1), groups=6, bias=False)",
      "torch.randn(2, 6, 11, 90)"},
     k_pairs},
    {{"channels_alone_of_bf16", "self.c(x)", "self.c = nn.Conv1d(6, 6, 7, padding=3, groups=6, dtype=torch.bfloat16)",
      "torch.randn(2, 6, 77, dtype=torch.bfloat16)"},
     k_sixteen},
};

class LaneWindows : public ModulesOnProcessor<WindowCase> {};

TEST_P(LaneWindows, are_accepted) {
  const Problem read = problem(GetParam().module);
  const Bundle bundle = emitted(read);
  EXPECT_NE(bundle.source.find(GetParam().text), std::string::npos) << bundle.source;
  const bool of_the_family = bundle.source.find(k_of_the_family) != std::string::npos;
  EXPECT_EQ(of_the_family, GetParam().text != std::string_view(k_other_family)) << bundle.source;
  expect_accepted(read, bundle);
}

INSTANTIATE_TEST_SUITE_P(Windows, LaneWindows, testing::ValuesIn(k_windows),
                         [](const auto& one) { return one.param.module.name; });

/// What the kernel of a pooling with edges may not leave out.
TEST_F(LaneWindows, are_rejected_where_edges_are_ignored_or_elements_left_out) {
  const Problem read = problem(k_windows[0].module);
  expect_rejected(read, emitted(read),
                  {{"0 <= x - 1 &&", ""},
                   {"x + 15 - 1 + 2 < 49", "x + 14 - 1 + 2 < 49"},
                   {"x += 16;", "x += 17;"},
                   {"line = first;", "line = first + 1;"}});
}

}  // namespace
}  // namespace kw
