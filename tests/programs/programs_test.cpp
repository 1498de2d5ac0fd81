// Tensor programs on a device. A wrong kernel is the plain kernel of a module that is nearly the right one: what people
// and models get wrong is a change of one call. Its honest twin is the plain kernel of the right module.

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/file_system.hpp"
#include "codegen/codegen.hpp"
#include "tests/programs/program_verdicts.hpp"

namespace kw {
namespace {

struct Pair {
  const char* name;
  const char* right;
  const char* wrong;
  const char* init = "";
  const char* inputs = "torch.rand(B, C, H, W)";
  friend void PrintTo(const Pair& pair, std::ostream* out) { *out << pair.name; }
};

class ProgramsOnDevice : public testing::Test {
 protected:
  static void SetUpTestSuite() { device_ = std::make_unique<ProgramVerdicts>("opencl:0", "opencl"); }
  static void TearDownTestSuite() { device_.reset(); }
  static Verdict verdict_of(const Problem& problem, Bundle bundle) {
    return device_->verdict_of(problem, std::move(bundle));
  }
  static Bundle plain(const Problem& problem) { return device_->emitted(problem, "plain"); }

  static inline std::unique_ptr<ProgramVerdicts> device_;
};

class Programs : public ProgramsOnDevice, public testing::WithParamInterface<Pair> {};

constexpr const char* k_conv = "self.c = nn.Conv2d(6, 6, 3, padding=1)";
constexpr const char* k_norm = "self.n = nn.LayerNorm(W)";
constexpr const char* k_matrices = "torch.rand(H, W), torch.rand(W, W)";

const std::vector<Pair> k_pairs = {
    {"mean_for_sum", "x.sum(-1)", "x.mean(-1)"},
    {"softmax_without_the_maximum", "torch.softmax(x, -1)", "torch.exp(x) / torch.exp(x).sum(-1, keepdim=True)"},
    {"logsumexp_without_the_maximum", "torch.logsumexp(x, -1)", "torch.log(torch.exp(x).sum(-1))"},
    {"softmax_over_the_other_axis", "torch.softmax(x, 1)", "torch.softmax(x, 2)"},
    {"maximum_that_starts_at_zero", "torch.amax(x, -1)", "torch.relu(torch.amax(x, -1))"},
    {"largest_magnitude", "torch.amax(x, -1)", "torch.amax(torch.abs(x), -1)"},
    {"last_of_tied_maxima", "torch.argmax(x, -1)", "W - 1 - torch.argmax(torch.flip(x, [3]), -1)"},
    {"gelu_by_tanh", "F.gelu(x)", "F.gelu(x, approximate='tanh')"},
    {"relu_that_stops_at_six", "torch.relu(x) * 2", "F.relu6(x) * 2"},
    {"leak_left_out", "F.leaky_relu(x, 0.01)", "torch.relu(x)"},
    {"variance_of_the_sample", "torch.var(x, -1, unbiased=False)", "torch.var(x, -1)"},
    {"variance_from_squares", "torch.var(x, -1)", "((x * x).mean(-1) - x.mean(-1) ** 2) * (W / (W - 1))"},
    {"epsilon_outside_of_the_root",
     "(x - x.mean(-1, keepdim=True)) / torch.sqrt(torch.var(x, -1, keepdim=True) + 1e-3)",
     "(x - x.mean(-1, keepdim=True)) / (torch.sqrt(torch.var(x, -1, keepdim=True)) + 1e-3)"},
    {"scan_without_its_own_element", "torch.cumsum(x, -1)", "torch.cumsum(x, -1) - x"},
    {"scan_from_the_other_end", "torch.cumsum(x, -1)", "torch.flip(torch.cumsum(torch.flip(x, [3]), -1), [3])"},
    {"bias_left_out", "self.c(x)", "F.conv2d(x, self.c.weight, padding=1) + 0 * self.c.bias.sum()", k_conv},
    {"bias_of_the_wrong_channel", "self.c(x)", "F.conv2d(x, self.c.weight, torch.flip(self.c.bias, [0]), padding=1)",
     k_conv},
    {"last_channel_dropped", "self.c(x)", "F.conv2d(x[:, :5], self.c.weight[:, :5], self.c.bias, padding=1)", k_conv},
    {"kernel_flipped", "self.c(x)", "F.conv2d(x, torch.flip(self.c.weight, [2, 3]), self.c.bias, padding=1)", k_conv},
    {"padding_of_ones", "self.c(x)", "F.conv2d(F.pad(x, (1, 1, 1, 1), value=1.0), self.c.weight, self.c.bias)", k_conv},
    {"padding_counted", "F.avg_pool2d(x, 3, 1, 1, count_include_pad=False)", "F.avg_pool2d(x, 3, 1, 1)"},
    {"pooling_from_zero", "F.max_pool2d(x, 3, 1, 1)", "torch.relu(F.max_pool2d(x, 3, 1, 1))"},
    {"weight_left_out", "self.n(x)", "F.layer_norm(x, (W,)) + self.n.bias + 0 * self.n.weight", k_norm},
    {"norm_of_each_sample", "F.batch_norm(x, None, None, training=True)", "F.instance_norm(x)"},
    {"factor_not_transposed", "x @ more[0].T", "x @ more[0]", "", k_matrices},
    {"last_term_of_a_product_dropped", "x @ more[0]", "x @ more[0] - x[:, -1:] * more[0][-1:]", "", k_matrices},
    {"diagonal_left_out", "torch.tril(x)", "torch.tril(x, -1)"},

    {"constant", "torch.sigmoid(x)", "0 * x + 0.5"},
    {"input_returned", "torch.tanh(x)", "x * 1.0"},
};

TEST_P(Programs, a_kernel_of_nearly_the_right_module_is_rejected) {
  const auto& [name, right, wrong, init, inputs] = GetParam();
  const Problem problem = problem_of_module(module_of(right, init, inputs), "right.py");
  const Problem nearly = problem_of_module(module_of(wrong, init, inputs), "wrong.py");
  const Verdict honest = verdict_of(problem, plain(problem));
  EXPECT_TRUE(honest.accepted()) << honest.message;
  const Verdict verdict = verdict_of(problem, plain(nearly));
  EXPECT_EQ(verdict.status, VerdictStatus::rejected) << verdict.message;
  EXPECT_TRUE(verdict.reason == Reason::wrong_result || verdict.reason == Reason::not_finite) << verdict.message;
}

INSTANTIATE_TEST_SUITE_P(Pairs, Programs, testing::ValuesIn(k_pairs),
                         [](const auto& one) { return std::string(one.param.name); });

TEST_F(ProgramsOnDevice, are_verified_with_their_plain_kernels) {
  int seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator("problems/program")) {
    if (entry.path().extension() != ".py") continue;
    const std::string text = RealFileSystem().read(entry.path(), 1 << 20).value();
    const Problem problem = problem_of_module(text, entry.path().string(), "eval", 2e7);
    const Verdict verdict = verdict_of(problem, plain(problem));
    EXPECT_TRUE(verdict.accepted()) << entry.path() << ": " << verdict.message;
    ++seen;
  }
  EXPECT_GE(seen, 5);
}

}  // namespace
}  // namespace kw
