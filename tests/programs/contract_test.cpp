// Products of matrices and convolutions in tiles, on a CPU through PoCL and on the CUDA simulator, through the whole
// verifier: chosen shapes that tiles do not divide, and random ones.

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/rng.hpp"
#include "tests/programs/program_verdicts.hpp"

namespace kw {
namespace {

struct Product {
  const char* name;
  const char* result;
  const char* inputs;
  const char* init = "";
  friend void PrintTo(const Product& product, std::ostream* out) { *out << product.name; }
};

const std::vector<Product> k_products = {
    {"odd_extents", "x @ more[0]", "torch.rand(37, 53), torch.rand(53, 29)"},
    {"one_step", "x @ more[0]", "torch.rand(70, 1), torch.rand(1, 150)"},
    {"few_columns", "x @ more[0]", "torch.rand(90, 40), torch.rand(40, 5)"},
    {"few_rows", "x @ more[0]", "torch.rand(5, 40), torch.rand(40, 90)"},
    {"long_sum", "x @ more[0]", "torch.rand(17, 5003), torch.rand(5003, 19)"},
    {"transposed", "x.T @ more[0].T", "torch.rand(41, 33), torch.rand(39, 41)"},
    {"linear_with_bias", "torch.relu(self.c(x)) * 2", "torch.rand(B, H, W)", "self.c = nn.Linear(20, 33)"},
    {"batches", "torch.bmm(x, more[0])", "torch.rand(3, 21, 35), torch.rand(3, 35, 18)"},
    {"sums_of_einsum", "torch.einsum('bhqd,bkhd->bhqk', x, more[0])",
     "torch.rand(2, 3, 17, 20), torch.rand(2, 19, 3, 20)"},
    {"f16", "torch.sigmoid(x @ more[0])",
     "torch.rand(33, 41, dtype=torch.float16), torch.rand(41, 37, dtype=torch.float16)"},
    {"bf16", "F.linear(x, more[0])",
     "torch.rand(33, 41, dtype=torch.bfloat16), torch.rand(37, 41, dtype=torch.bfloat16)"},
    {"map_of_a_factor", "torch.relu(x - 0.5) @ more[0]", "torch.rand(37, 53), torch.rand(53, 29)"},
    {"convolution", "self.c(x)", "torch.rand(B, C, H, W)", "self.c = nn.Conv2d(6, 17, 3, padding=1)"},
    {"strided_dilated_grouped", "self.c(x)", "torch.rand(B, C, H, W)",
     "self.c = nn.Conv2d(6, 20, (3, 2), stride=2, dilation=(1, 3), padding=(2, 1), groups=2)"},
    {"convolution_in_1d", "self.c(x)", "torch.rand(B, C, 61)", "self.c = nn.Conv1d(6, 13, 5, padding='same')"},
    {"convolution_in_3d", "self.c(x)", "torch.rand(2, 5, 6, 7, 8)",
     "self.c = nn.Conv3d(5, 9, (1, 2, 3), padding=(0, 1, 1), bias=False)"},
    {"transposed_convolution", "self.c(x)", "torch.rand(B, C, H, W)",
     "self.c = nn.ConvTranspose2d(6, 11, 3, padding=1)"},
    {"transposed_convolution_by_phases", "self.c(x)", "torch.rand(B, C, H, W)",
     "self.c = nn.ConvTranspose2d(6, 11, 3, stride=2, padding=1, output_padding=1)"},
    {"phases_without_taps", "self.c(x)", "torch.rand(2, 12, 5, 6, 7)",
     "self.c = nn.ConvTranspose3d(12, 20, (3, 5, 2), stride=(2, 3, 4), padding=(1, 2, 0), dilation=(2, 1, 3), "
     "groups=2)"},
};

/// The kernels of the family, and the verdict on them.
void expect_accepted(const ProgramVerdicts& device, const std::string& module, const char* in_tiles) {
  const Problem problem = problem_of_module(module, "m.py");
  const Bundle bundle = device.emitted(problem, "fused");
  EXPECT_NE(bundle.source.find(in_tiles), std::string::npos) << "not in tiles:\n" << module;
  const Verdict verdict = device.verdict_of(problem, bundle);
  EXPECT_TRUE(verdict.accepted()) << module << verdict.message << "\n" << bundle.to_text();
}

class ContractOnCpu : public testing::TestWithParam<Product> {
 protected:
  static void SetUpTestSuite() { device_ = std::make_unique<ProgramVerdicts>("opencl:0", "opencl"); }
  static void TearDownTestSuite() { device_.reset(); }
  static inline std::unique_ptr<ProgramVerdicts> device_;
};

TEST_P(ContractOnCpu, is_accepted) {
  expect_accepted(*device_, module_of(GetParam().result, GetParam().init, GetParam().inputs), "multiply_add(");
}

INSTANTIATE_TEST_SUITE_P(Products, ContractOnCpu, testing::ValuesIn(k_products),
                         [](const auto& one) { return std::string(one.param.name); });

class ContractOnSimulator : public testing::TestWithParam<Product> {
 protected:
  static void SetUpTestSuite() { device_ = std::make_unique<ProgramVerdicts>("sim", "cuda"); }
  static void TearDownTestSuite() { device_.reset(); }
  static inline std::unique_ptr<ProgramVerdicts> device_;
};

TEST_P(ContractOnSimulator, is_accepted_without_findings) {
  expect_accepted(*device_, module_of(GetParam().result, GetParam().init, GetParam().inputs), "multiply_tile(");
}

INSTANTIATE_TEST_SUITE_P(Products, ContractOnSimulator, testing::ValuesIn(k_products),
                         [](const auto& one) { return std::string(one.param.name); });

struct Layer {
  std::string init, inputs;
};

/// A convolution of any kind that has enough work for tiles.
Layer random_convolution(Rng& random) {
  const auto draw = [&](std::int64_t least, std::int64_t most) { return least + random.below(most - least + 1); };
  const auto windows = draw(1, 3);
  const bool transposed = draw(0, 1) == 1;
  const auto groups = draw(1, 2);
  const auto channels = groups * draw(3, 9);
  std::string kernel, stride, padding, dilation, image;
  for (std::int64_t i = 0; i < windows; ++i) {
    const auto taps = draw(1, 4);
    kernel += fmt::format("{}, ", taps);
    stride += fmt::format("{}, ", draw(1, 3));
    dilation += fmt::format("{}, ", draw(1, 2));
    padding += fmt::format("{}, ", draw(0, transposed ? 0 : taps / 2));
    image += fmt::format(", {}", (windows == 1 ? 90 : windows == 2 ? 18 : 9) + draw(0, 5));
  }
  return {fmt::format("self.c = nn.Conv{}{}d({}, {}, ({}), stride=({}), padding=({}), dilation=({}), groups={})",
                      transposed ? "Transpose" : "", windows, channels, groups * draw(8, 21), kernel, stride, padding,
                      dilation, groups),
          fmt::format("torch.rand({}, {}{})", draw(1, 3), channels, image)};
}

TEST(ContractRandom, convolutions_are_accepted_on_a_cpu) {
  const char* chosen = std::getenv("KW_TEST_SEED");
  const std::uint64_t seed = chosen != nullptr ? std::strtoull(chosen, nullptr, 10) : 20261123;
  RecordProperty("seed", std::to_string(seed));
  Rng random(seed);
  const ProgramVerdicts device("opencl:0", "opencl");
  for (int round = 0; round < 8; ++round) {
    SCOPED_TRACE(fmt::format("seed {}, round {}", seed, round));
    const Layer layer = random_convolution(random);
    expect_accepted(device, module_of("self.c(x)", layer.init, layer.inputs), "multiply_add(");
  }
}

}  // namespace
}  // namespace kw
