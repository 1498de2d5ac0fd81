// Tensor programs on a device: each wrong kernel of wrong_kernels.hpp is rejected, its honest twin passes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/file_system.hpp"
#include "codegen/codegen.hpp"
#include "tests/programs/program_verdicts.hpp"
#include "tests/programs/wrong_kernels.hpp"

namespace kw {
namespace {

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

class Programs : public ProgramsOnDevice, public testing::WithParamInterface<ModulePair> {};

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

class EditedPrograms : public ProgramsOnDevice, public testing::WithParamInterface<KernelEdit> {};

TEST_P(EditedPrograms, a_kernel_with_one_wrong_line_is_rejected) {
  const KernelEdit& edit = GetParam();
  const Problem problem =
      problem_of_module(module_of(edit.module, "", edit.inputs), "right.py", "", k_any_steps, edit.precision);
  Bundle bundle = plain(problem);
  const Verdict honest = verdict_of(problem, bundle);
  EXPECT_TRUE(honest.accepted()) << honest.message;
  const std::string line = edit.line;
  const auto at = bundle.source.find(line);
  ASSERT_NE(at, std::string::npos) << bundle.source;
  bundle.source.replace(at, line.size(), edit.instead);
  const Verdict verdict = verdict_of(problem, bundle);
  EXPECT_EQ(verdict.status, VerdictStatus::rejected) << verdict.message;
  EXPECT_EQ(verdict.reason, Reason::wrong_result) << verdict.message;
}

INSTANTIATE_TEST_SUITE_P(Edits, EditedPrograms, testing::ValuesIn(wrong_lines()),
                         [](const auto& one) { return std::string(one.param.name); });

INSTANTIATE_TEST_SUITE_P(Pairs, Programs, testing::ValuesIn(wrong_modules()),
                         [](const auto& one) { return std::string(one.param.name); });

TEST_F(ProgramsOnDevice, may_answer_minus_one_but_not_by_leaving_it_out) {
  const Problem problem =
      problem_of_module(module_of("torch.argmax(x, 1) - 1", "", "torch.rand(B, C, H, W)"), "minus_one.py");
  const Bundle bundle = plain(problem);
  const Verdict honest = verdict_of(problem, bundle);
  EXPECT_TRUE(honest.accepted()) << honest.message;
  Bundle lazy = bundle;
  const std::string line = "out_[id] = argmax_0[id] - 1;";
  const auto at = lazy.source.find(line);
  ASSERT_NE(at, std::string::npos) << lazy.source;
  lazy.source.insert(at, "if (argmax_0[id] != 0) ");
  const Verdict verdict = verdict_of(problem, lazy);
  EXPECT_EQ(verdict.reason, Reason::output_unwritten) << verdict.message;
}

TEST_F(ProgramsOnDevice, are_refused_where_roundings_are_all_of_the_answer) {
  const char* itself = "F.kl_div(F.log_softmax(x, -1), F.softmax(x, -1), reduction='sum') * 0.001";
  const auto refusal = device_->refusal_of(problem_of_module(module_of(itself, "", "torch.randn(B, C)"), "itself.py"));
  ASSERT_TRUE(refusal.has_value());
  EXPECT_EQ(refusal->code, errc::unscorable) << refusal->to_string();
  EXPECT_EQ(refusal->message,
            "program/itself cannot be scored: roundings of the inputs decide the answer of workload primary, which "
            "timed launches are like");
}

/// What a kernel that computes x twice, once within a fused multiply-add, leaves of x - x is no fault.
TEST_F(ProgramsOnDevice, are_refused_where_the_timed_answer_is_zero_throughout) {
  std::string text = module_of("F.log_softmax(x * 0.0312, -1)", "", "torch.randn(B, C)");
  const auto at = text.find("4, 6");
  ASSERT_NE(at, std::string::npos) << text;
  text.replace(at, 4, "4, 1");
  const auto refusal = device_->refusal_of(problem_of_module(text, "single.py"));
  ASSERT_TRUE(refusal.has_value());
  EXPECT_EQ(refusal->code, errc::unscorable) << refusal->to_string();
  EXPECT_EQ(refusal->message,
            "program/single cannot be scored: every element of out is 0 on workload primary, which timed launches are "
            "like");
}

/// The plain kernel is right to the last bit on these data by chance; the fused one adds in another order.
TEST_F(ProgramsOnDevice, may_err_by_what_roundings_of_the_inputs_do) {
  const Problem problem =
      problem_of_module(module_of("F.layer_norm(x, (B, 1, B, 1))", "", "torch.randn(B, 1, B, 1)"), "far.py");
  const Verdict verdict = verdict_of(problem, device_->emitted(problem, "fused"));
  EXPECT_TRUE(verdict.accepted()) << verdict.message;
}

class HalfPrograms : public ProgramsOnDevice, public testing::WithParamInterface<const char*> {};

TEST_P(HalfPrograms, are_verified_with_their_plain_and_fused_kernels) {
  const std::string type = std::string("dtype=torch.") + GetParam();
  const std::string matrix = "torch.randn(C * H, B * W, " + type + ")";
  const std::array<std::array<std::string, 3>, 4> modules = {
      {{"torch.matmul(x, more[0])", "", matrix + ", torch.randn(B * W, H, " + type + ")"},
       {"self.fc(x)", "self.fc = nn.Linear(B * W, C, " + type + ")", matrix},
       {"torch.softmax(x, -1)", "", matrix},
       {"self.norm(x)", "self.norm = nn.LayerNorm(B * W, " + type + ")", matrix}}};
  for (const auto& [result, init, inputs] : modules) {
    const Problem problem = problem_of_module(module_of(result, init, inputs), "half.py");
    for (const char* style : {"plain", "fused"}) {
      const Verdict verdict = verdict_of(problem, device_->emitted(problem, style));
      EXPECT_TRUE(verdict.accepted()) << result << ", " << style << ": " << verdict.message;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, HalfPrograms, testing::Values("float16", "bfloat16"));

/// With parameters whose sum is above one what is left of sin(x) is rounding, and parameters are drawn anew for each
/// timed launch: of 26 launches none would see such.
TEST_F(ProgramsOnDevice, are_timed_on_other_data_where_some_tell_nothing) {
  const std::string large = "torch.relu(1e5 * (self.w.sum() - 1))";
  const Problem problem = problem_of_module(module_of("torch.sin(x) + " + large + " - " + large,
                                                      "self.w = nn.Parameter(torch.randn(2))", "torch.randn(B, C)"),
                                            "cancels.py");
  for (const char* style : {"plain", "fused"}) {
    const Verdict verdict = verdict_of(problem, device_->emitted(problem, style));
    EXPECT_TRUE(verdict.accepted()) << style << ": " << verdict.message;
  }
}

/// Of workloads whose data are not asked with every draw: it is no defect of the plain kernel.
TEST_F(ProgramsOnDevice, are_refused_where_roundings_decide_a_large_answer) {
  const std::string conv = "self.c = nn.Conv2d(8, 8, 4)";
  const std::string inputs = "torch.rand(64, 8, 20, 36)";
  const Problem problem = problem_of_module(module_of("torch.clamp(self.c(x) + 0.8, max=0)", conv, inputs), "rare.py",
                                            "", k_any_steps, "tf32_convolutions");
  const auto refusal = device_->refusal_of(problem);
  ASSERT_TRUE(refusal.has_value());
  EXPECT_EQ(refusal->code, errc::unscorable) << refusal->to_string();
  EXPECT_THAT(refusal->message, testing::HasSubstr("roundings of the inputs decide"));
}

TEST_F(ProgramsOnDevice, are_refused_where_a_half_cannot_hold_the_answer) {
  const char* far = "(torch.rand(B, C, H, W) + 200).half()";
  const auto refusal = device_->refusal_of(problem_of_module(module_of("torch.sum(x * x)", "", far), "beyond.py"));
  ASSERT_TRUE(refusal.has_value());
  EXPECT_EQ(refusal->code, errc::unscorable) << refusal->to_string();
  EXPECT_THAT(refusal->message, testing::HasSubstr(", beyond f16, in output out of workload primary"));
}

std::vector<std::string> shipped_modules() {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("problems/program", error)) {
    if (entry.path().extension() == ".py") names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

class ShippedModules : public ProgramsOnDevice, public testing::WithParamInterface<std::string> {};

TEST_P(ShippedModules, are_verified_with_their_plain_and_fused_kernels) {
  const auto path = "problems/program/" + GetParam() + ".py";
  const Problem problem = problem_of_module(RealFileSystem().read(path, 1 << 20).value(), path, "eval", 4e6);
  for (const char* style : {"plain", "fused"}) {
    const Verdict verdict = verdict_of(problem, device_->emitted(problem, style));
    EXPECT_TRUE(verdict.accepted()) << style << ": " << verdict.message;
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, ShippedModules, testing::ValuesIn(shipped_modules()),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace kw
