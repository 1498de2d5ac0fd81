// From a module's file to a problem: axes, settings, derived workloads, and what its tensors may hold.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "operators/program/kernels/styles.hpp"
#include "operators/program/parts.hpp"
#include "operators/program/program_detail.hpp"
#include "problem/axes.hpp"

namespace kw {
namespace {

using testing::HasSubstr;

constexpr double k_unlimited = 1e30;

Result<Problem> derived(const std::string& module, const std::string& mode = "", std::vector<std::string> set = {},
                        ModuleLimits limits = {k_unlimited, k_unlimited}) {
  KW_TRY(const auto text, program_problem_text({module, "some/conv_relu.py", "", mode, std::move(set), limits}));
  return parse_problem(text, "some/conv_relu.py");
}

const std::string k_conv = R"(import torch
import torch.nn as nn

class Model(nn.Module):
    """A convolution with \"quotes\" and a back\\slash."""
    def __init__(self, in_channels, out_channels, kernel_size):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size, stride=stride)
        self.bn = nn.BatchNorm2d(out_channels)

    def forward(self, x):
        return torch.relu(self.bn(self.conv(x)))

batch_size = 16
in_channels = 3
out_channels = 32
height = width = 64
kernel_size = 3
stride = 2

def get_inputs():
    return [torch.rand(batch_size, in_channels, height, width)]

def get_init_inputs():
    return [in_channels, out_channels, kernel_size]
)";

std::string with_forward(const std::string& body, const std::string& inputs, const std::string& n = "64",
                         const std::string& m = "48") {
  return "import torch\nimport torch.nn as nn\nclass Model(nn.Module):\n    def forward(self, x):\n        return " +
         body + "\nN = " + n + "\nM = " + m + "\ndef get_inputs():\n    return [" + inputs +
         "]\ndef get_init_inputs():\n    return []\n";
}

TEST(DeriveProblem, makes_sizes_axes_and_leaves_settings_out) {
  const auto problem = derived(k_conv);
  ASSERT_TRUE(problem) << problem.error().to_string();
  EXPECT_EQ(problem->name, "program/conv_relu");
  EXPECT_EQ(problem->own_axes,
            (std::vector<std::string>{"batch_size", "height", "in_channels", "out_channels", "width"}));
  ASSERT_EQ(problem->inputs.size(), 5U);
  EXPECT_EQ(problem->inputs[0].name, "x");
  EXPECT_EQ(problem->inputs[1].name, "conv_weight");
  EXPECT_EQ(problem->inputs[1].axes, (std::vector<std::string>{"out_channels", "in_channels", "n3", "n3"}));
  EXPECT_EQ(problem->outputs[0].axes, (std::vector<std::string>{"batch_size", "out_channels", "out_2", "out_3"}));
  EXPECT_EQ(problem->primary().axes.at("out_2"), 31);
}

TEST(DeriveProblem, draws_small_workloads_of_both_roles) {
  const auto problem = derived(k_conv).value();
  ASSERT_EQ(problem.workloads.size(), 5U);
  int hidden = 0;
  for (const auto& workload : problem.workloads) {
    hidden += workload.role == WorkloadRole::held_out ? 1 : 0;
    if (workload.role == WorkloadRole::primary) continue;
    EXPECT_LE(program_cost(problem, workload).steps, 1e7) << workload.name;
  }
  EXPECT_EQ(hidden, 2);
  EXPECT_EQ(derived(k_conv)->id(), problem.id()) << "the same text gives the same problem";
}

/// Half of the extents drawn for a prime one are 1, of which a log-softmax is 0 whatever it is given.
TEST(DeriveProblem, draws_more_workloads_where_the_first_say_nothing) {
  const auto problem = derived(with_forward("torch.log_softmax(x, dim=-1)", "torch.randn(N, M)", "512", "32003"));
  ASSERT_TRUE(problem) << problem.error().to_string();
  ASSERT_EQ(problem->workloads.size(), 5U);
  for (std::size_t i = 1; i < problem->workloads.size(); ++i)
    EXPECT_GT(problem->workloads[i].axes.at("M"), 1) << problem->workloads[i].name;
}

TEST(DeriveProblem, draws_large_extents_where_a_number_of_groups_needs_them) {
  const auto problem = derived(with_forward("nn.functional.group_norm(x, 128)", "torch.randn(N, M)", "64", "4096"));
  ASSERT_TRUE(problem) << problem.error().to_string();
  ASSERT_EQ(problem->workloads.size(), 5U);
  for (std::size_t i = 1; i < problem->workloads.size(); ++i) {
    const Axes& axes = problem->workloads[i].axes;
    EXPECT_EQ(axes.at("M") % 128, 0);
    EXPECT_LE(axes.at("N") * axes.at("M"), 1 << 15);
  }
}

TEST(DeriveProblem, is_read_again_from_what_a_run_keeps) {
  const auto problem = with_axes(derived(k_conv).value(), {"batch_size=8"}).value();
  const auto again = read_again(*problem.source);
  ASSERT_TRUE(again) << again.error().to_string();
  EXPECT_EQ(again->id(), problem.id());
  EXPECT_EQ(again->primary().axes.at("batch_size"), 8);
}

TEST(DeriveProblem, takes_sizes_and_settings_from_the_command_line) {
  const auto problem = derived(k_conv, "", {"batch_size=4", "stride=1"}).value();
  EXPECT_EQ(problem.primary().axes.at("batch_size"), 4);
  EXPECT_EQ(problem.primary().axes.at("out_2"), 62);
  EXPECT_EQ(derived(k_conv, "", {"stride=x"}).error().message, "'stride=x' does not set an axis");
}

TEST(DeriveProblem, refuses_axes_that_make_it_another_program) {
  const auto refused = with_axes(derived(k_conv).value(), {"height=2"});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().to_string(), HasSubstr("height=2"));
}

TEST(DeriveProblem, makes_a_primary_smaller_that_does_not_fit) {
  const auto problem = derived(k_conv, "", {}, {1e6, k_unlimited}).value();
  EXPECT_EQ(problem.primary().axes.at("height"), 32);
  EXPECT_THAT(problem.description, HasSubstr("height = 32 instead of 64"));
}

/// A network with 18 MB of parameters that no axis changes.
std::string network(const std::string& classes) {
  return "import torch\nimport torch.nn as nn\nclass Model(nn.Module):\n    def __init__(self):\n"
         "        super().__init__()\n        self.a = nn.Linear(64, 4096)\n        self.b = nn.Linear(4096, 1024)\n"
         "        self.c = nn.Linear(1024, C)\n    def forward(self, x):\n"
         "        return self.c(torch.relu(self.b(torch.relu(self.a(x)))))\nN = 16384\nC = " +
         classes + "\ndef get_inputs():\n    return [torch.rand(N, 64)]\n";
}

TEST(DeriveProblem, leaves_axes_that_take_nothing_away) {
  const auto problem = derived(network("1000"), "", {}, {1e8, k_unlimited}).value();
  EXPECT_EQ(problem.primary().axes.at("N"), 4096);
  EXPECT_EQ(problem.primary().axes.at("C"), 1000);
}

TEST(DeriveProblem, does_not_make_up_for_parameters_that_no_axis_changes) {
  const auto problem = derived(network("10"), "", {}, {1e6, k_unlimited}).value();
  EXPECT_EQ(problem.primary().axes.at("N"), 1024);
}

TEST(DeriveProblem, makes_axes_smaller_together_that_have_to_be_the_same) {
  const std::string module =
      "import torch\nimport torch.nn as nn\nclass Model(nn.Module):\n    def forward(self, x, y):\n"
      "        return torch.mean(x * y)\nN = 64\nM = 64\ndef get_inputs():\n"
      "    return [torch.rand(N, M), torch.rand(N)]\n";
  const auto problem = derived(module, "", {}, {k_unlimited, 600});
  ASSERT_TRUE(problem) << problem.error().to_string();
  EXPECT_EQ(problem->primary().axes.at("N"), 16);
  EXPECT_EQ(problem->primary().axes.at("M"), 16);
}

/// Of 16 groups of channels, in training mode.
std::string grouped(const std::string& result) {
  return "import torch\nimport torch.nn as nn\nclass Model(nn.Module):\n    def __init__(self):\n"
         "        super().__init__()\n        self.l = nn.Linear(K, C)\n        self.n = nn.GroupNorm(16, C)\n"
         "    def forward(self, x):\n        return " +
         result + "\nN = 32\nK = 64\nC = 256\ndef get_inputs():\n    return [torch.rand(N, K)]\n";
}

TEST(DeriveProblem, makes_a_primary_no_smaller_than_it_has_something_to_compute) {
  const auto problem = derived(grouped("torch.relu(self.n(self.l(x)))"), "", {}, {k_unlimited, 6e3}).value();
  EXPECT_EQ(problem.primary().axes.at("C"), 32) << "16 would be groups of one channel, whose norm is the bias";
  EXPECT_THAT(problem.description, HasSubstr("the result follows from the parameters alone"));
  const auto fits = derived(grouped("torch.relu(self.l(x))"), "", {}, {k_unlimited, 6e3}).value();
  EXPECT_LE(program_cost(fits, fits.primary()).steps, 6e3);
  EXPECT_EQ(fits.description.find("the result follows"), std::string::npos);
  const auto zeros =
      derived(grouped("torch.clamp(torch.min(self.l(x), torch.tensor(0.0)), 0, 1)"), "", {}, {k_unlimited, 6e3});
  ASSERT_TRUE(zeros) << zeros.error().to_string();
  EXPECT_LE(program_cost(*zeros, zeros->primary()).steps, 6e3) << "no size says anything";
}

/// level2/62 of KernelBench with --fit 1e7.
TEST(DeriveProblem, asks_primaries_of_ten_million_steps_whether_they_have_something_to_compute) {
  const std::string module =
      "import torch\nimport torch.nn as nn\nclass Model(nn.Module):\n    def __init__(self):\n"
      "        super().__init__()\n        self.l = nn.Linear(K, C)\n        self.n = nn.GroupNorm(512, C)\n"
      "    def forward(self, x):\n        return self.n(self.l(x))\nN = 64\nK = 128\nC = 4096\ndef get_inputs():\n"
      "    return [torch.rand(N, K)]\n";
  const auto problem = derived(module, "", {}, {k_unlimited, 1e7}).value();
  EXPECT_EQ(problem.primary().axes.at("C"), 1024) << "512 would be groups of one channel";
  EXPECT_THAT(problem.description, HasSubstr("the result follows from the parameters alone"));
}

TEST(DeriveProblem, reads_train_and_eval_mode) {
  EXPECT_EQ(derived(k_conv, "train")->inputs.size(), 5U);
  EXPECT_EQ(derived(k_conv, "eval")->inputs.size(), 7U) << "running mean and variance";
  EXPECT_EQ(derived(k_conv, "test").error().message, "mode \"test\" is no mode");
}

TEST(DeriveProblem, is_written_without_the_statistics_that_training_does_not_read) {
  const Problem problem = derived(k_conv).value();
  const auto bundle = program_styles().front().emit(problem, DeviceFacts{}, {});
  ASSERT_TRUE(bundle) << bundle.error().to_string();
  EXPECT_EQ(bundle->to_text().find("bn_running_mean"), std::string::npos);
}

TEST(DeriveProblem, keeps_inputs_to_what_the_module_takes) {
  EXPECT_EQ(program_detail(*derived(with_forward("torch.exp(x)", "torch.rand(N, M)"))).domain, InputDomain::real);
  EXPECT_EQ(program_detail(*derived(with_forward("torch.log(x)", "torch.rand(N, M)"))).domain, InputDomain::given);
}

TEST(DeriveProblem, takes_an_axis_of_intermediate_results_alone_for_a_setting) {
  const auto problem = derived(with_forward("x.unsqueeze(1).expand(-1, M, -1).sum(1)", "torch.rand(N, 3)"));
  ASSERT_TRUE(problem) << problem.error().to_string();
  EXPECT_EQ(problem->own_axes, std::vector<std::string>{"N"});
}

TEST(DeriveProblem, refuses_what_no_kernel_can_be_checked_against) {
  const auto random = derived(with_forward("torch.nn.functional.dropout(x)", "torch.rand(N, M)"));
  EXPECT_THAT(random.error().to_string(), HasSubstr("gives another result each time"));
  EXPECT_THAT(random.error().to_string(), HasSubstr("--mode eval"));
  const auto wide = derived(with_forward("x.double()", "torch.rand(N, M)"));
  EXPECT_THAT(wide.error().to_string(), HasSubstr("tensor of float64"));
}

TEST(DeriveProblem, keeps_axes_of_one_that_are_repeated_along_another_one) {
  const auto problem = derived(R"(import torch
import torch.nn as nn
class Model(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.bias = nn.Parameter(torch.randn(shape))
    def forward(self, x):
        return x + self.bias
batch = 16
channels = 8
shape = (channels, 1)
width = 24
def get_inputs():
    return [torch.randn(batch, channels, width)]
def get_init_inputs():
    return [shape]
)")
                           .value();
  for (const auto& workload : problem.workloads) {
    const auto repeated = workload.axes.find("shape_1");
    if (repeated == workload.axes.end()) continue;
    EXPECT_EQ(repeated->second, 1) << workload.name;
  }
}

TEST(DeriveProblem, leaves_numbers_of_the_code_as_they_are_and_trains_what_is_saved) {
  const auto problem = derived(R"(import torch
import torch.nn as nn
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.saved = nn.Parameter(torch.zeros(M))
        self.fixed = torch.ones(M)
    def forward(self, x):
        return torch.min(x + self.saved, torch.tensor(0.25)) * self.fixed
N = 16
M = 8
def get_inputs():
    return [torch.randn(N, M)]
)")
                           .value();
  InputValues operands;
  for (const auto& tensor : problem.inputs) {
    operands.emplace_back(static_cast<std::size_t>(element_count(tensor, problem.primary().axes).value()), -7.0F);
  }
  Rng rng(3);
  settle_operands(problem, problem.primary(), Settled::all, operands, rng, serial_for);
  std::map<std::string, std::vector<float>> drawn;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    drawn[problem.inputs[i].name.substr(0, 5)] = operands[i];
  }
  EXPECT_EQ(drawn["fixed"], std::vector<float>(8, 1.0F));
  EXPECT_EQ(drawn["const"], std::vector<float>(1, 0.25F));
  EXPECT_EQ(drawn["saved"].size(), 8U);
  EXPECT_NE(drawn["saved"], std::vector<float>(8, 0.0F));
}

TEST(DeriveProblem, takes_dropout_as_the_identity_where_it_is_told_so) {
  const auto trained = derived(
      with_forward("torch.nn.functional.dropout(torch.tanh(x)) * (2 if self.training else 3)", "torch.rand(N, M)"),
      "train_no_dropout");
  ASSERT_TRUE(trained) << trained.error().to_string();
  const Program& program = program_detail(*trained).program;
  EXPECT_FALSE(program.is_random());
  EXPECT_TRUE(is_dropout(program.graph.nodes.at(1)));
  EXPECT_THAT(trained->canonical_text(), HasSubstr("mode train_no_dropout"));
  const auto given = trained->canonical_text();
  EXPECT_EQ(read_again(*trained->source)->canonical_text(), given);
  EXPECT_THAT(given, HasSubstr("mul(")) << "it is training all the same";
  EXPECT_THAT(given, testing::Not(HasSubstr("3.0"))) << given;
  const auto other =
      derived(with_forward("torch.nn.functional.rrelu(x, training=True)", "torch.rand(N, M)"), "train_no_dropout");
  EXPECT_THAT(other.error().to_string(), HasSubstr("gives another result each time")) << "other randomness stays";
}

Result<Problem> derived_with(const std::string& precision) {
  KW_TRY(const auto text,
         program_problem_text({k_conv, "some/conv_relu.py", "", "", {}, {k_unlimited, k_unlimited}, precision}));
  return parse_problem(text, "some/conv_relu.py");
}

TEST(DeriveProblem, keeps_the_precision_of_products_in_the_problem_and_its_identity) {
  const auto strict = derived_with("");
  ASSERT_TRUE(strict) << strict.error().to_string();
  EXPECT_EQ(derived_with("strict")->id(), strict->id());
  EXPECT_THAT(strict->canonical_text(), testing::Not(HasSubstr("precision"))) << "as before there was a choice";
  const auto rounded = derived_with("tf32_convolutions");
  ASSERT_TRUE(rounded) << rounded.error().to_string();
  EXPECT_EQ(program_detail(*rounded).module.precision, Precision::tf32_convolutions);
  EXPECT_THAT(rounded->canonical_text(), HasSubstr("\nprecision tf32_convolutions\n"));
  EXPECT_NE(rounded->id(), strict->id());
  EXPECT_EQ(read_again(*rounded->source)->id(), rounded->id());
  EXPECT_NE(derived_with("tf32")->id(), rounded->id());
  EXPECT_EQ(derived_with("half").error().to_string(),
            "precision \"half\" is none [problem.value]\n  try: write \"strict\", \"tf32_convolutions\" or \"tf32\"");
}

TEST(DeriveProblem, tells_models_and_people_of_the_precision) {
  const auto rounded = derived_with("tf32_convolutions").value();
  EXPECT_THAT(program_prompts().values(rounded).at("precision"), HasSubstr("tf32_convolutions: f32 factors of"));
  const auto explained = explain_program(rounded).value();
  EXPECT_THAT(explained.lines, testing::Contains(HasSubstr("precision  tf32_convolutions: f32 factors of")));
}

TEST(DeriveProblem, settles_operands_that_are_no_free_reals) {
  const auto problem = derived(k_conv, "eval").value();
  InputValues operands;
  for (const auto& tensor : problem.inputs) {
    operands.emplace_back(static_cast<std::size_t>(element_count(tensor, problem.primary().axes).value()), -7.0F);
  }
  Rng rng(3);
  settle_operands(problem, problem.primary(), Settled::all, operands, rng, serial_for);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const bool variance = problem.inputs[i].name == "bn_running_var";
    const auto [least, most] = std::minmax_element(operands[i].begin(), operands[i].end());
    EXPECT_GE(*least, i == 0 ? -7.0F : variance ? 0.5F : -1.5F) << problem.inputs[i].name;
    EXPECT_LE(*most, i == 0 ? -7.0F : 1.5F) << problem.inputs[i].name;
  }
}

}  // namespace
}  // namespace kw
