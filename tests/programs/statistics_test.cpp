// Statistics of norms of which the kernel of the convolution before them leaves parts, on the CUDA simulator through the
// whole verifier: extents that no block divides, so that parts have different numbers of values.

#include <gtest/gtest.h>

#include <random>

#include "base/text.hpp"
#include "tests/programs/program_verdicts.hpp"

namespace kw {
namespace {

struct Norm {
  std::string name;
  std::string result;
  std::string init;
  std::string inputs;
  friend void PrintTo(const Norm& norm, std::ostream* out) { *out << norm.name; }
};

constexpr const char* k_leaves_parts = "float* const left = parts";
const IntBindings k_directly = {{"DIRECT", 1}, {"STATISTICS", 1}};

const std::vector<Norm> k_norms = {
    {"batch_in_2d", "torch.tanh(self.n(self.c(x)))", "self.c = nn.Conv2d(3, 19, 3)\n        self.n = nn.BatchNorm2d(19)",
     "torch.rand(3, 3, 21, 39)"},
    {"group_in_2d", "self.n(torch.sigmoid((self.c(x) + more[0]) * 2))",
     "self.c = nn.Conv2d(5, 18, 3, padding=1)\n        self.n = nn.GroupNorm(6, 18)",
     "torch.rand(3, 5, 21, 39), torch.rand(18, 1, 1)"},
    {"instance_in_2d", "self.n(self.c(x)) / 2", "self.c = nn.Conv2d(3, 19, 3)\n        self.n = nn.InstanceNorm2d(19)",
     "torch.rand(3, 3, 21, 39)"},
    {"layer_of_all", "F.layer_norm(self.c(x), (19, 19, 37))", "self.c = nn.Conv2d(3, 19, 3)",
     "torch.rand(3, 3, 21, 39)"},
    {"layer_of_images", "F.layer_norm(torch.relu(self.c(x)), (19, 37), more[0], more[1])",
     "self.c = nn.Conv2d(3, 19, 3)", "torch.rand(3, 3, 21, 39), torch.rand(19, 37), torch.rand(19, 37)"},
    {"batch_in_1d", "self.n(F.hardswish(self.c(x)))",
     "self.c = nn.Conv1d(4, 35, 5)\n        self.n = nn.BatchNorm1d(35, affine=False)", "torch.rand(5, 4, 171)"},
    {"group_in_3d", "F.hardswish(self.n(F.silu(self.c(x))))",
     "self.c = nn.Conv3d(3, 20, 3)\n        self.n = nn.GroupNorm(5, 20, affine=False)", "torch.rand(2, 3, 5, 9, 19)"},
    {"instance_in_3d", "torch.amax(torch.clamp(self.n(self.c(x) * more[0]), -1, 1) * more[0], 1)",
     "self.c = nn.Conv3d(3, 18, 3, padding=1)\n        self.n = nn.InstanceNorm3d(18, affine=True)",
     "torch.rand(2, 3, 4, 7, 9), torch.rand(18, 1, 1, 1)"},
    {"batch_of_phases", "self.n(self.c(x))",
     "self.c = nn.ConvTranspose2d(5, 18, 3, stride=2, padding=1)\n        self.n = nn.BatchNorm2d(18)",
     "torch.rand(3, 5, 13, 17)"},
    {"group_of_phases_in_3d", "F.hardswish(self.n(torch.sigmoid(self.c(x)) * self.c(x)))",
     "self.c = nn.ConvTranspose3d(3, 16, 3, stride=2, padding=1)\n        self.n = nn.GroupNorm(4, 16)",
     "torch.rand(2, 3, 4, 5, 9)"},
    {"layer_of_phases_in_1d", "F.layer_norm(self.c(x), (20, 203))", "self.c = nn.ConvTranspose1d(4, 20, 3, stride=2)",
     "torch.rand(3, 4, 101)"},
    {"batch_of_groups", "self.n(self.c(x))",
     "self.c = nn.Conv2d(6, 38, 3, groups=2)\n        self.n = nn.BatchNorm2d(38)", "torch.rand(3, 6, 21, 39)"},
    {"group_before_pooling", "F.max_pool2d(self.n(self.c(x)) * more[0], 2)",
     "self.c = nn.Conv2d(3, 16, 3)\n        self.n = nn.GroupNorm(4, 16)",
     "torch.rand(3, 3, 21, 39), torch.rand(16, 1, 1)"},
    {"values_that_are_returned", "(lambda y: (y, self.n(y)))(self.c(x))",
     "self.c = nn.Conv2d(3, 19, 3)\n        self.n = nn.BatchNorm2d(19)", "torch.rand(3, 3, 21, 39)"},
    {"values_far_from_zero", "self.n(self.c(x) + 20)",
     "self.c = nn.Conv2d(3, 16, 3)\n        self.n = nn.GroupNorm(4, 16)", "torch.rand(3, 3, 21, 39)"},
};

Problem problem_of(const Norm& one, const std::string& precision = "") {
  return problem_of_module(module_of(one.result, one.init, one.inputs), "m.py", "", k_any_steps, precision);
}

class StatisticsOnSimulator : public testing::TestWithParam<Norm> {
 protected:
  static void SetUpTestSuite() { device_ = std::make_unique<ProgramVerdicts>("sim", "cuda"); }
  static void TearDownTestSuite() { device_.reset(); }

  static Bundle emitted(const Problem& problem, const IntBindings& structure, const IntBindings& tunables = {},
                        const std::string& arch = "") {
    Bundle bundle = device_->emitted(problem, "fused", arch, structure);
    for (auto& tunable : bundle.tunables) {
      const auto found = tunables.find(tunable.name);
      if (found != tunables.end()) tunable.default_value = found->second;
    }
    return bundle;
  }

  static void expect_accepted(const Norm& one, const IntBindings& structure, const IntBindings& tunables = {},
                              const std::string& arch = "") {
    const Problem read = problem_of(one);
    const Bundle bundle = emitted(read, structure, tunables, arch);
    EXPECT_NE(bundle.source.find(k_leaves_parts), std::string::npos) << bundle.source;
    const Verdict verdict = device_->verdict_of(read, bundle);
    EXPECT_TRUE(verdict.accepted()) << one.result << "\n" << one.init << "\n" << one.inputs << "\n" << verdict.message
                                    << "\n" << bundle.to_text();
  }

  static inline std::unique_ptr<ProgramVerdicts> device_;
};

TEST_P(StatisticsOnSimulator, are_accepted_of_direct_convolutions) {
  expect_accepted(GetParam(), k_directly, {{"DIRECT_PIXELS", 2}, {"DIRECT_CHANNELS", 16}, {"DIRECT_THREADS", 128}});
}

TEST_P(StatisticsOnSimulator, are_accepted_of_other_blocks) {
  expect_accepted(GetParam(), k_directly, {{"DIRECT_PIXELS", 1}, {"DIRECT_CHANNELS", 32}, {"DIRECT_THREADS", 64}});
  expect_accepted(GetParam(), k_directly, {{"DIRECT_PIXELS", 4}, {"DIRECT_CHANNELS", 8}, {"DIRECT_THREADS", 64}},
                  "sm_80");
}

INSTANTIATE_TEST_SUITE_P(Norms, StatisticsOnSimulator, testing::ValuesIn(k_norms),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace kw
