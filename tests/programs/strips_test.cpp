// Products by strips of columns on the CUDA simulator, through the whole verifier.

#include <gtest/gtest.h>

#include "tests/programs/modules_on_simulator.hpp"

namespace kw {
namespace {

constexpr const char* k_by_strips = "copy_strip(turn";
const IntBindings k_strips = {{"STRIPS", 1}};

/// Products of a small matrix and one whose columns are neighbours: images of a multiple of four pixels, whose strips
/// come by 16 bytes, and others.
const std::vector<ModuleCase> k_in_strips = {
    {"pointwise", "self.c(x)", "self.c = nn.Conv2d(13, 70, 1)", "torch.rand(3, 13, 12, 20)"},
    {"pointwise_of_any_image", "torch.relu(self.c(x))", "self.c = nn.Conv2d(13, 70, 1)", "torch.rand(3, 13, 17, 19)"},
    {"pointwise_in_1d", "self.c(x) * more[0]", "self.c = nn.Conv1d(24, 40, 1, bias=False)",
     "torch.rand(2, 24, 300), torch.rand(40, 1)"},
    {"pointwise_in_3d", "self.c(x)", "self.c = nn.Conv3d(5, 37, 1)", "torch.rand(2, 5, 7, 11, 12)"},
    {"pointwise_of_a_sum", "torch.tanh(self.c(x) + more[0])", "self.c = nn.Conv2d(9, 70, 1)",
     "torch.rand(2, 9, 8, 18), torch.rand(2, 70, 8, 18)"},
    {"pointwise_grouped", "self.c(x)", "self.c = nn.Conv2d(12, 66, 1, groups=2)", "torch.rand(3, 12, 12, 20)"},
    {"pointwise_of_many_channels", "self.c(x)", "self.c = nn.Conv2d(150, 260, 1)", "torch.rand(1, 150, 4, 20)"},
    {"channels_as_columns", "x.transpose(1, 2) @ more[0]", "", "torch.rand(3, 20, 33), torch.rand(3, 20, 90)"},
    {"maps_of_rows", "torch.relu(more[0] - 0.5) @ x", "", "torch.rand(13, 301), torch.rand(40, 13)"},
    {"rows_of_f16", "more[0].float() @ x", "", "torch.rand(40, 300), torch.rand(37, 40, dtype=torch.float16)"},
    {"sums_in_f16", "(more[0] @ x).half()", "", "torch.rand(40, 300), torch.rand(37, 40)"},
};

/// In both precisions, with copies that are checked for races.
class Strips : public ModulesOnSimulator<> {};

TEST_P(Strips, are_accepted) {
  const Problem read = problem(GetParam());
  for (const char* arch : {"", "sm_80"})
    expect_accepted_with(k_by_strips, read, device_->emitted(read, "fused", arch, k_strips), {});
}

TEST_P(Strips, are_accepted_rounded) {
  const Problem read = problem(GetParam(), "tf32");
  expect_accepted_with("multiply_rounded_strip<false>(row_tile", read, device_->emitted(read, "fused", "", k_strips),
                       {});
}

INSTANTIATE_TEST_SUITE_P(Columns, Strips, testing::ValuesIn(k_in_strips),
                         [](const auto& one) { return one.param.name; });

/// Every way in which warps, passes and turns divide the work.
class StripTunables : public ModulesOnSimulator<> {};

TEST_P(StripTunables, are_accepted) {
  const Problem read = problem(GetParam());
  const Bundle bundle = device_->emitted(read, "fused", "", k_strips);
  for (const IntBindings& tunables :
       {IntBindings{{"TILE_M", 32}, {"PASS_M", 32}, {"TILE_K", 16}, {"STRIP_WARPS", 4}, {"STRIP_STAGES", 1}},
        IntBindings{{"TILE_M", 64}, {"PASS_M", 32}, {"TILE_K", 16}, {"STRIP_WARPS", 4}, {"STRIP_STAGES", 2}},
        IntBindings{{"TILE_M", 64}, {"PASS_M", 64}, {"TILE_K", 32}, {"STRIP_WARPS", 8}, {"STRIP_STAGES", 2}},
        IntBindings{{"TILE_M", 128}, {"PASS_M", 32}, {"TILE_K", 16}, {"STRIP_WARPS", 12}, {"STRIP_STAGES", 1}}}) {
    ASSERT_EQ(bundle.tunables.size(), tunables.size());
    for (const auto& tunable : bundle.tunables) ASSERT_TRUE(tunables.contains(tunable.name)) << tunable.name;
    expect_accepted_with(k_by_strips, read, bundle, tunables);
  }
}

INSTANTIATE_TEST_SUITE_P(Columns, StripTunables, testing::Values(k_in_strips[0], k_in_strips[1], k_in_strips[5]),
                         [](const auto& one) { return one.param.name; });

/// A strip that is read before all lanes have seen their copies of it arrive is a race.
TEST_F(Strips, are_rejected_without_their_barrier) {
  const auto module = module_of("self.c(x)", "self.c = nn.Conv2d(13, 70, 1)", "torch.rand(3, 13, 12, 20)");
  const Problem problem = problem_of_module(module, "m.py");
  Bundle bundle = device_->emitted(problem, "fused", "", k_strips);
  const std::string arrival = "cp_async_wait<STRIP_STAGES - 1>();\n";
  const auto at = bundle.source.find(arrival + "    __syncwarp();\n");
  ASSERT_NE(at, std::string::npos) << bundle.source;
  bundle.source.erase(at + arrival.size(), std::string("    __syncwarp();\n").size());
  const Verdict verdict = device_->verdict_of(problem, bundle);
  EXPECT_EQ(verdict.status, VerdictStatus::rejected);
  EXPECT_EQ(verdict.reason, Reason::sanitizer_report) << verdict.message;
}

/// Where columns lie apart, are guarded or belong to several taps, strips are for nobody, however much they are wanted.
TEST_F(Strips, are_none_of_columns_that_are_no_neighbours) {
  for (const auto& [init, inputs] : {std::pair("self.c = nn.Conv2d(13, 70, 1, stride=2)", "torch.rand(3, 13, 17, 29)"),
                                     std::pair("self.c = nn.Conv2d(13, 70, 1, padding=1)", "torch.rand(3, 13, 17, 29)"),
                                     std::pair("self.c = nn.Conv2d(13, 70, 3)", "torch.rand(3, 13, 17, 29)"),
                                     std::pair("self.c = nn.Linear(40, 70)", "torch.rand(3, 90, 40)")}) {
    const Problem problem = problem_of_module(module_of("self.c(x)", init, inputs), "m.py");
    const Bundle bundle = device_->emitted(problem, "fused", "", k_strips);
    EXPECT_EQ(bundle.source.find(k_by_strips), std::string::npos) << init << "\n" << bundle.source;
  }
}

/// By default an image has to be large; and the strips of such a one come by 16 bytes and go so.
TEST_F(Strips, are_for_large_images_alone) {
  const auto emitted = [](const char* shape) {
    const auto module = module_of("self.c(x)", "self.c = nn.Conv2d(64, 128, 1, bias=False)", shape);
    return device_->emitted(problem_of_module(module, "m.py", "", 1e30), "fused", "", {}, 132).source;
  };
  const auto source = emitted("torch.rand(16, 64, 1024, 1024)");
  EXPECT_NE(source.find(k_by_strips), std::string::npos) << source;
  EXPECT_NE(source.find("cp_async_16(to + strip_place(step, lane % 8), inside ? from + (long)k * "), std::string::npos)
      << source;
  EXPECT_NE(source.find("*(float4*)(out"), std::string::npos) << source;
  EXPECT_EQ(emitted("torch.rand(2, 64, 64, 64)").find(k_by_strips), std::string::npos);
}

}  // namespace
}  // namespace kw
