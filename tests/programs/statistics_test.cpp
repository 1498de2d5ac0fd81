// Statistics of norms of which the kernel of the convolution before them leaves parts, on the CUDA simulator through
// the whole verifier: extents that no block divides, so that parts have different numbers of values.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string_view>

#include "base/text.hpp"
#include "tests/programs/modules_on_simulator.hpp"

namespace kw {
namespace {

constexpr const char* k_leaves_parts = "float* const left = parts";
const IntBindings k_by_patches = {{"PATCHES", 1}, {"STATISTICS", 1}};
const IntBindings k_directly = {{"DIRECT", 1}, {"STATISTICS", 1}};

const std::vector<ModuleCase> k_norms = {
    {"batch_in_2d", "torch.tanh(self.n(self.c(x)))",
     "self.c = nn.Conv2d(3, 19, 3)\n        self.n = nn.BatchNorm2d(19)", "torch.rand(3, 3, 21, 39)"},
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
    {"two_one_after_the_other", "self.m(self.d(torch.relu(self.n(self.c(x)))))",
     "self.c = nn.Conv2d(3, 16, 3)\n        self.n = nn.GroupNorm(4, 16)\n"
     "        self.d = nn.Conv2d(16, 18, 3, padding=1)\n        self.m = nn.BatchNorm2d(18)",
     "torch.rand(2, 3, 14, 23)"},
    {"before_one_tap", "self.d(torch.relu(self.n(self.c(x))))",
     "self.c = nn.Conv2d(3, 16, 3)\n        self.n = nn.BatchNorm2d(16)\n        self.d = nn.Conv2d(16, 18, 1)",
     "torch.rand(2, 3, 14, 23)"},
    {"values_far_from_zero", "self.n(self.c(x) + 5)",
     "self.c = nn.Conv2d(3, 16, 3)\n        self.n = nn.GroupNorm(4, 16)", "torch.rand(3, 3, 21, 39)"},
};

/// Means of images behind a norm, for which the convolution's values are not read: by all of them, then not even
/// written.
const std::vector<ModuleCase> k_means = {
    {"of_images_in_3d", "torch.mean(self.n(F.hardswish(self.c(x))), dim=[2, 3, 4])",
     "self.c = nn.Conv3d(3, 20, 3)\n        self.n = nn.GroupNorm(5, 20)", "torch.rand(2, 3, 5, 9, 19)"},
    {"of_channels_too", "(self.n(self.c(x)) * more[0] + more[1]).mean(dim=[1, 2, 3])",
     "self.c = nn.Conv2d(3, 18, 3)\n        self.n = nn.GroupNorm(3, 18)",
     "torch.rand(3, 3, 14, 23), torch.rand(18, 1, 1), torch.rand(3, 18, 1, 1)"},
    {"of_images_behind_batches", "F.adaptive_avg_pool2d(self.n(self.c(x) * 2), 1)",
     "self.c = nn.ConvTranspose2d(5, 18, 3, stride=2, padding=1)\n        self.n = nn.BatchNorm2d(18)",
     "torch.rand(3, 5, 13, 17)"},
};
const std::vector<ModuleCase> k_means_of_stored = {
    {"that_is_subtracted", "(lambda y: y - torch.mean(y, dim=(2, 3, 4), keepdim=True))(self.n(self.c(x)))",
     "self.c = nn.ConvTranspose3d(3, 18, 3, stride=2, padding=1)\n        self.n = nn.BatchNorm3d(18)",
     "torch.rand(3, 3, 4, 5, 9)"},
    {"of_squares", "torch.square(self.n(self.c(x))).mean((2, 3))",
     "self.c = nn.Conv2d(3, 18, 3)\n        self.n = nn.BatchNorm2d(18)", "torch.rand(3, 3, 14, 23)"},
    {"with_a_weight_of_pixels", "(self.n(self.c(x)) * more[0]).mean((2, 3))",
     "self.c = nn.Conv2d(3, 18, 3)\n        self.n = nn.GroupNorm(3, 18)",
     "torch.rand(3, 3, 14, 23), torch.rand(12, 21)"},
};

class StatisticsOnSimulator : public ModulesOnSimulator<> {
 protected:
  static Bundle emitted(const Problem& problem, const IntBindings& structure, const IntBindings& tunables = {},
                        const std::string& arch = "") {
    return with_defaults(device_->emitted(problem, "fused", arch, structure), tunables);
  }

  static void expect_accepted(const ModuleCase& one, const IntBindings& structure, const IntBindings& tunables = {},
                              const std::string& arch = "") {
    SCOPED_TRACE(one.result + "\n" + one.init + "\n" + one.inputs);
    const Problem read = problem(one);
    expect_accepted_with(k_leaves_parts, read, emitted(read, structure, {}, arch), tunables);
  }
};

TEST_P(StatisticsOnSimulator, are_accepted_of_direct_convolutions) {
  expect_accepted(GetParam(), k_directly, {{"DIRECT_PIXELS", 2}, {"DIRECT_CHANNELS", 16}, {"DIRECT_THREADS", 128}});
}

TEST_P(StatisticsOnSimulator, are_accepted_of_other_blocks) {
  expect_accepted(GetParam(), k_directly, {{"DIRECT_PIXELS", 1}, {"DIRECT_CHANNELS", 32}, {"DIRECT_THREADS", 64}});
  expect_accepted(GetParam(), k_directly, {{"DIRECT_PIXELS", 4}, {"DIRECT_CHANNELS", 8}, {"DIRECT_THREADS", 64}},
                  "sm_80");
}

TEST_P(StatisticsOnSimulator, are_accepted_of_patches) {
  expect_accepted(GetParam(), k_by_patches);
}

/// With what is reduced of windows besides, which needs lines of eight columns, or with several products.
const std::set<std::string_view> k_never_wide = {"group_of_phases_in_3d", "group_before_pooling",
                                                 "two_one_after_the_other", "before_one_tap"};

/// Of a line of an image for each warpgroup.
TEST_P(StatisticsOnSimulator, are_accepted_of_wide_tiles) {
  const auto bundle = device_->emitted(problem(GetParam()), "fused", "", k_by_patches);
  const bool wide = bundle.source.find("Patch<true, PATCH_WIDE") != std::string::npos;
  const bool lines = bundle.source.find("Patch<true, ") != std::string::npos;
  if (wide) expect_accepted(GetParam(), k_by_patches, {{"TILE_N", 128}, {"THREAD_N", 16}, {"PATCH_WIDE", 1}});
  EXPECT_EQ(wide, lines && k_never_wide.count(GetParam().name) == 0);
}

INSTANTIATE_TEST_SUITE_P(Norms, StatisticsOnSimulator, testing::ValuesIn(k_norms),
                         [](const auto& one) { return one.param.name; });

/// Whether a buffer of scratch memory holds what the convolution computes.
bool stores_values(const Bundle& bundle) {
  const auto holds = [&](const ScratchBuffer& one) {
    return bundle.source.find(one.name + "[place_of_stored[") != std::string::npos ||
           bundle.source.find(one.name + " + place_of_stored[") != std::string::npos;
  };
  return std::ranges::any_of(bundle.scratch, holds);
}

class MeansBehindNorms : public StatisticsOnSimulator {};

TEST_P(MeansBehindNorms, follow_from_parts_of_direct_convolutions) {
  const IntBindings tunables = {{"DIRECT_PIXELS", 1}, {"DIRECT_CHANNELS", 16}, {"DIRECT_THREADS", 64}};
  expect_accepted(GetParam(), k_directly, tunables);
  EXPECT_FALSE(stores_values(emitted(problem(GetParam()), k_directly)));
  EXPECT_TRUE(stores_values(emitted(problem(GetParam()), {{"DIRECT", 1}, {"STATISTICS", 2}})));
}

TEST_P(MeansBehindNorms, follow_from_parts_of_patches) {
  expect_accepted(GetParam(), k_by_patches);
  EXPECT_FALSE(stores_values(emitted(problem(GetParam()), k_by_patches)));
  EXPECT_TRUE(stores_values(emitted(problem(GetParam()), {{"PATCHES", 1}, {"STATISTICS", 2}})));
}

INSTANTIATE_TEST_SUITE_P(Means, MeansBehindNorms, testing::ValuesIn(k_means),
                         [](const auto& one) { return one.param.name; });

class MeansOfStored : public StatisticsOnSimulator {};

TEST_P(MeansOfStored, are_accepted) {
  expect_accepted(GetParam(), k_directly, {{"DIRECT_PIXELS", 1}, {"DIRECT_CHANNELS", 8}, {"DIRECT_THREADS", 64}});
  EXPECT_TRUE(stores_values(emitted(problem(GetParam()), k_directly)));
  expect_accepted(GetParam(), k_by_patches);
}

INSTANTIATE_TEST_SUITE_P(Means, MeansOfStored, testing::ValuesIn(k_means_of_stored),
                         [](const auto& one) { return one.param.name; });

/// Pooling behind a norm reads the pooled values of tiles, which are written instead of all.
const std::vector<ModuleCase> k_pooled = {
    {"largest_of_groups", "F.max_pool2d(self.n(self.c(x)) * more[0], 4)",
     "self.c = nn.Conv2d(6, 18, 3)\n        self.n = nn.GroupNorm(3, 18)",
     "torch.rand(3, 6, 21, 39), torch.rand(18, 1, 1) - 0.5"},
    {"largest_behind_tanh", "F.max_pool2d(torch.tanh(self.n(torch.sin(self.c(x)))), 2)",
     "self.c = nn.ConvTranspose2d(6, 18, 3, padding=1)\n        self.n = nn.BatchNorm2d(18)",
     "torch.rand(3, 6, 14, 23)"},
    {"means", "F.avg_pool2d(self.n(F.relu(self.c(x))), (2, 4)) + more[0]",
     "self.c = nn.Conv2d(6, 18, 3)\n        self.n = nn.InstanceNorm2d(18)",
     "torch.rand(2, 6, 21, 39), torch.rand(9, 9)"},
    {"in_1d", "F.max_pool1d(self.n(self.c(x)), 8)", "self.c = nn.Conv1d(6, 20, 5)\n        self.n = nn.BatchNorm1d(20)",
     "torch.rand(3, 6, 150)"},
    {"in_planes_and_a_mean",
     "(lambda y: F.max_pool3d(y, (1, 2, 2)) + y.mean((2, 3, 4), keepdim=True))(self.n(self.c(x)))",
     "self.c = nn.Conv3d(5, 18, 3, padding=1)\n        self.n = nn.GroupNorm(3, 18)", "torch.rand(2, 5, 3, 9, 19)"},
};

class PooledBehindNorms : public StatisticsOnSimulator {};

TEST_P(PooledBehindNorms, follow_from_windows_of_patches) {
  expect_accepted(GetParam(), k_by_patches);
  EXPECT_FALSE(stores_values(emitted(problem(GetParam()), k_by_patches)));
}

INSTANTIATE_TEST_SUITE_P(Pooled, PooledBehindNorms, testing::ValuesIn(k_pooled),
                         [](const auto& one) { return one.param.name; });

/// Average pooling of what a direct convolution's norm gives is a convolution of its own.
const std::vector<ModuleCase> k_pooled_apart = {
    {"of_phases_twice", "F.avg_pool3d(F.avg_pool3d(self.n(self.c(x)), 2), 2)",
     "self.c = nn.ConvTranspose3d(3, 16, 3, stride=2, padding=1)\n        self.n = nn.BatchNorm3d(16)",
     "torch.rand(2, 3, 6, 7, 9)"},
    {"of_groups", "torch.tanh(F.avg_pool2d(self.n(self.c(x)) * more[0], 2))",
     "self.c = nn.Conv2d(6, 18, 3)\n        self.n = nn.GroupNorm(3, 18)",
     "torch.rand(3, 6, 21, 39), torch.rand(18, 1, 1)"},
};

class PooledApart : public StatisticsOnSimulator {};

TEST_P(PooledApart, is_accepted_behind_direct_convolutions) {
  expect_accepted(GetParam(), k_directly, {{"DIRECT_PIXELS", 1}, {"DIRECT_CHANNELS", 16}, {"DIRECT_THREADS", 64}});
  const auto bundle = emitted(problem(GetParam()), k_directly);
  for (const auto& memory : bundle.scratch)
    EXPECT_TRUE(memory.name != "conv2d_0" && memory.name != "conv_transpose3d_0") << memory.name;
  EXPECT_NE(bundle.source.find("_pooled_filter["), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Pooled, PooledApart, testing::ValuesIn(k_pooled_apart),
                         [](const auto& one) { return one.param.name; });

/// Where an activation stands between convolution and norm, and where it would be much work.
TEST_F(PooledApart, is_none_of_values_that_are_no_sums_and_of_much_work) {
  const auto is_apart = [&](const ModuleCase& one, const IntBindings& structure) {
    return device_->emitted(problem(one), "fused", "", structure, 132).source.find("_pooled_filter[") !=
           std::string::npos;
  };
  const ModuleCase relu{"", "F.avg_pool2d(self.n(F.relu(self.c(x))), 2)", k_pooled_apart[1].init,
                        "torch.rand(3, 6, 21, 39)"};
  EXPECT_FALSE(is_apart(relu, k_directly));
  const ModuleCase little{"", "F.avg_pool2d(self.n(self.c(x)), 8)",
                          "self.c = nn.Conv2d(3, 16, 5)\n        self.n = nn.BatchNorm2d(16)",
                          "torch.rand(128, 3, 256, 256)"};
  const ModuleCase much{"", "F.avg_pool2d(self.n(self.c(x)), 2)", little.init, little.inputs};
  EXPECT_TRUE(is_apart(little, {}));
  EXPECT_FALSE(is_apart(much, {}));
  EXPECT_TRUE(is_apart(much, {{"STATISTICS", 1}}));
  EXPECT_FALSE(is_apart(little, {{"STATISTICS", 2}}));
}

/// Of a negative weight the largest number is that of the least value.
TEST_F(PooledBehindNorms, are_rejected_without_the_least_values) {
  const Problem read = problem(k_pooled[0]);
  Bundle bundle = emitted(read, k_by_patches);
  const std::string least = "gathered = smaller(gathered";
  const auto at = bundle.source.find(least);
  ASSERT_NE(at, std::string::npos) << bundle.source;
  bundle.source.replace(at, least.size(), "gathered = larger(gathered");
  const Verdict verdict = device_->verdict_of(read, bundle);
  EXPECT_EQ(verdict.status, VerdictStatus::rejected) << verdict.message;
}

/// Functions that are not monotone, that pixels have weights of, and windows that overlap or of two values.
TEST_F(PooledBehindNorms, are_none_of_other_functions_and_windows) {
  for (const char* result :
       {"F.max_pool2d(torch.sin(self.n(self.c(x))), 2)", "F.max_pool2d(self.n(self.c(x)) * more[0], 2)",
        "F.avg_pool2d(torch.tanh(self.n(self.c(x))), 2)", "F.max_pool2d(self.n(self.c(x)), 4, stride=2)",
        "F.max_pool2d(self.n(self.c(x)), (1, 2))"}) {
    const ModuleCase one{"", result, k_pooled[0].init, "torch.rand(3, 6, 21, 39), torch.rand(19, 37)"};
    EXPECT_TRUE(stores_values(emitted(problem(one), k_by_patches))) << result;
  }
}

/// Each line of a direct convolution has blocks of its own then; tiles of patches have several lines.
TEST_F(MeansOfStored, of_lines_follow_from_parts_of_direct_convolutions) {
  const ModuleCase of_lines = {"of_lines", "self.n(self.c(x)).mean(3)",
                               "self.c = nn.Conv2d(3, 18, 3)\n        self.n = nn.GroupNorm(3, 18)",
                               "torch.rand(3, 3, 14, 23)"};
  expect_accepted(of_lines, k_directly, {{"DIRECT_PIXELS", 1}, {"DIRECT_CHANNELS", 8}, {"DIRECT_THREADS", 64}});
  EXPECT_FALSE(stores_values(emitted(problem(of_lines), k_directly)));
  EXPECT_TRUE(stores_values(emitted(problem(of_lines), k_by_patches)));
}

/// A norm of any kind behind a convolution of any kind, of small odd sizes.
class RandomNorm {
 public:
  explicit RandomNorm(std::uint64_t seed) : random_(seed) {}

  ModuleCase draw() {
    const int dimensions = between(1, 3), groups = between(2, 4), channels = groups * between(3, 5);
    const bool transposed = between(0, 1) == 1;
    std::string extents, spatial;
    const int longest = dimensions == 1 ? 300 : dimensions == 2 ? 23 : 9;
    std::vector<int> sizes;
    for (int i = 0; i < dimensions; ++i) sizes.push_back(between(longest / 2, longest));
    const int images = between(1, 4), inputs = between(3, 5), taps = between(2, 3);
    const int stride = between(1, 2), padding = between(0, 1);
    std::string shape;
    for (const int size : sizes) {
      extents += fmt::format(", {}", size);
      const int out = transposed ? (size - 1) * stride - 2 * padding + taps : (size + 2 * padding - taps) / stride + 1;
      shape += fmt::format(", {}", out);
    }
    const auto* const layer = transposed ? "ConvTranspose" : "Conv";
    const auto convolution =
        fmt::format("self.c = nn.{}{}d({}, {}, {}, stride={}, padding={}, bias={})", layer, dimensions, inputs,
                    channels, taps, stride, padding, one_of({"True", "False"}));
    const auto affine = one_of({"True", "False"});
    const auto values = fmt::format(
        fmt::runtime(one_of({"{}", "F.silu({})", "torch.relu({}) * 2", "torch.sigmoid({} + 1)"})), "self.c(x)");
    const auto input = fmt::format("torch.rand({}, {}{})", images, inputs, extents);
    const int kind = between(0, 3);
    if (kind == 3) return {"", fmt::format("F.layer_norm({}, ({}{}))", values, channels, shape), convolution, input};
    const auto norm = kind == 0   ? fmt::format("BatchNorm{}d({}, affine={})", dimensions, channels, affine)
                      : kind == 1 ? fmt::format("GroupNorm({}, {}, affine={})", groups, channels, affine)
                                  : fmt::format("InstanceNorm{}d({}, affine={})", dimensions, channels, affine);
    return {"", fmt::format(fmt::runtime(one_of({"self.n({})", "torch.tanh(self.n({})) * 2"})), values),
            convolution + "\n        self.n = nn." + norm, input};
  }

  int between(int least, int most) {
    return least + static_cast<int>(random_() % static_cast<unsigned>(most - least + 1));
  }

 private:
  std::string one_of(const std::vector<std::string>& choices) {
    return choices[static_cast<std::size_t>(between(0, static_cast<int>(choices.size()) - 1))];
  }

  std::mt19937_64 random_;
};

class Statistics : public StatisticsOnSimulator {
 protected:
  static void expect_random_norms_accepted(std::uint64_t otherwise, const IntBindings& structure, const char* text);
};

std::uint64_t test_seed(std::uint64_t otherwise) {
  const char* given = std::getenv("KW_TEST_SEED");
  return given == nullptr ? otherwise : std::stoull(given);
}

/// `text`: of kernels that may leave parts. Not of products that are too few for it.
void Statistics::expect_random_norms_accepted(std::uint64_t otherwise, const IntBindings& structure, const char* text) {
  constexpr int k_cases = 12;
  const auto seed = test_seed(otherwise);
  RandomNorm random(seed);
  int judged = 0;
  for (int i = 0; i < k_cases; ++i) {
    const auto one = random.draw();
    const Problem read = problem(one);
    const IntBindings tunables = {{"DIRECT_PIXELS", 1 << random.between(0, 2)},
                                  {"DIRECT_CHANNELS", 8 << random.between(0, 1)},
                                  {"DIRECT_THREADS", 64}};
    // Too few elements for a norm that says anything.
    if (emitted(read, structure).source.find(text) == std::string::npos || device_->refusal_of(read)) continue;
    ++judged;
    SCOPED_TRACE(fmt::format("KW_TEST_SEED={}, case {}", seed, i));
    expect_accepted(one, structure, tunables);
  }
  EXPECT_GE(judged, k_cases / 2);
}

TEST_F(Statistics, of_random_norms_are_accepted_of_direct_convolutions) {
  expect_random_norms_accepted(20261125, k_directly, "multiply_pixels(places");
}

TEST_F(Statistics, of_random_norms_are_accepted_of_patches) {
  expect_random_norms_accepted(20261126, k_by_patches, "using Places = Patch<true, ");
}

/// The verdict on the kernels of a norm in which `right`, wherever it stands, is `wrong`.
Verdict verdict_with(const ProgramVerdicts& device, const Problem& read, const IntBindings& structure,
                     const std::string& right, const std::string& wrong) {
  Bundle bundle = device.emitted(read, "fused", "", structure);
  std::size_t found = 0;
  for (auto at = bundle.source.find(right); at != std::string::npos;
       at = bundle.source.find(right, at + wrong.size())) {
    bundle.source.replace(at, right.size(), wrong);
    ++found;
  }
  EXPECT_GT(found, 0U) << right << "\n" << bundle.source;
  return device.verdict_of(read, bundle);
}

/// Joined without the differences of means, without some parts, or as if all parts had as many values.
TEST_F(Statistics, that_are_joined_in_a_wrong_way_are_rejected) {
  const ModuleCase group = {"", "self.n(torch.sigmoid(self.c(x)))",
                            "self.c = nn.Conv2d(3, 16, 3)\n        self.n = nn.GroupNorm(4, 16)",
                            "torch.rand(2, 3, 14, 23)"};
  for (const auto& [right, wrong] : std::vector<std::pair<std::string, std::string>>{
           {"left[2] + left[0] * (apart * apart)", "left[2]"},
           {"left[0] * (apart * apart)", "(apart * apart)"},
           {"sum += left[0] * left[1];", "sum += left[1] * (float)(DIRECT_THREADS * DIRECT_PIXELS);"},
           {"int part = threadIdx.x; part < ", "int part = threadIdx.x + 1; part < "},
           {"int count = __popc(present);", "int count = DIRECT_PIXELS;"}}) {
    const auto verdict = verdict_with(*device_, problem(group), k_directly, right, wrong);
    EXPECT_EQ(verdict.status, VerdictStatus::rejected) << wrong;
    EXPECT_EQ(verdict.reason, Reason::wrong_result) << wrong << "\n" << verdict.message;
  }
}

/// What a thread of a tile's edge has is no value.
TEST_F(Statistics, of_pixels_that_are_none_are_rejected) {
  const auto verdict = verdict_with(*device_, problem(k_norms[8]), k_directly,
                                    "if ((present >> (p * DIRECT_PIXELS + i) & 1u) != 0)", "if (true)");
  EXPECT_EQ(verdict.status, VerdictStatus::rejected) << verdict.message;
  const auto by_patches =
      verdict_with(*device_, problem(k_norms[8]), k_by_patches,
                   "          if (!(y_step * 2 + y_phase < 25 && x_step * 2 + x_phase < 33)) continue;\n", "");
  EXPECT_EQ(by_patches.status, VerdictStatus::rejected) << by_patches.message;
}

/// Values of a thread that has not stored them yet are none.
TEST_F(Statistics, of_values_that_are_not_there_yet_are_rejected) {
  const ModuleCase group = {"", "self.n(torch.sigmoid(self.c(x)))",
                            "self.c = nn.Conv2d(3, 16, 3)\n        self.n = nn.GroupNorm(4, 16)",
                            "torch.rand(2, 3, 14, 23)"};
  const auto of_tile =
      verdict_with(*device_, problem(group), k_by_patches, "    __syncthreads();\n    {\n      const unsigned follower",
                   "    {\n      const unsigned follower");
  EXPECT_EQ(of_tile.status, VerdictStatus::rejected);
  EXPECT_EQ(of_tile.reason, Reason::sanitizer_report) << of_tile.message;
}

/// Norms of single lines or of channels alone, sums that read something else, and convolutions whose values a cache
/// holds.
TEST_F(Statistics, are_not_left_where_they_cannot_be_or_gain_nothing) {
  const auto leaves = [&](const ModuleCase& one, const IntBindings& structure) {
    const auto bundle = device_->emitted(problem(one), "fused", "", structure, 132);
    return bundle.source.find(k_leaves_parts) != std::string::npos;
  };
  const std::string convolution = "self.c = nn.Conv2d(3, 16, 3)", input = "torch.rand(3, 3, 21, 39)";
  for (const ModuleCase& one :
       {ModuleCase{"channels", "F.layer_norm(self.c(x).permute(0, 2, 3, 1), (16,))", convolution, input},
        ModuleCase{"changed", "F.layer_norm(self.c(x) * more[0], (16, 19, 37))", convolution,
                   input + ", torch.rand(3, 16, 19, 37)"}})
    EXPECT_EQ(leaves(one, k_directly), one.name == "changed") << one.name;
  const ModuleCase phases{"phases", "self.n(self.c(x))",
                          "self.c = nn.ConvTranspose2d(8, 18, 3, stride=2, padding=1, output_padding=1)\n"
                          "        self.n = nn.BatchNorm2d(18)",
                          "torch.rand(3, 8, 20, 20)"};
  EXPECT_TRUE(leaves(phases, {{"PATCHES", 1}, {"JOINED", 2}, {"STATISTICS", 1}}));
  EXPECT_FALSE(leaves(phases, {{"PATCHES", 1}, {"JOINED", 1}, {"STATISTICS", 1}}));
  const ModuleCase mean{"mean", "F.adaptive_avg_pool2d(F.gelu(self.c(x)), 1)", convolution, input};
  EXPECT_FALSE(leaves(mean, {{"PATCHES", 1}, {"TAILS", 1}, {"STATISTICS", 1}})) << "a tail does that";
  EXPECT_TRUE(leaves(k_norms[0], k_directly));
  EXPECT_FALSE(leaves(k_norms[0], {{"DIRECT", 1}}));
  EXPECT_FALSE(leaves(k_norms[0], {{"DIRECT", 1}, {"STATISTICS", 2}}));
  const ModuleCase large{"large", "self.n(self.c(x))",
                         "self.c = nn.Conv2d(3, 16, 3)\n        self.n = nn.BatchNorm2d(16)",
                         "torch.rand(64, 3, 256, 256)"};
  EXPECT_TRUE(leaves(large, {}));
  EXPECT_FALSE(leaves(large, {{"STATISTICS", 2}}));
}

}  // namespace
}  // namespace kw
