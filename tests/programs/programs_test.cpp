// Tensor programs on a device: each wrong kernel of wrong_kernels.hpp is rejected, its honest twin passes.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/file_system.hpp"
#include "codegen/codegen.hpp"
#include "loop/threads.hpp"
#include "loop/verifier_setup.hpp"
#include "problem/operator.hpp"
#include "tests/programs/wrong_kernels.hpp"
#include "verify/local_verifier.hpp"
#include "verify/processes/process_backend.hpp"

namespace kw {
namespace {

constexpr double k_any = 1e30;

std::string module_of(const std::string& result, const std::string& init, const std::string& inputs) {
  return "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\nB, C, H, W = 4, 6, 12, 20\n"
         "class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n" +
         (init.empty() ? std::string("        pass\n") : "        " + init + "\n") +
         "    def forward(self, x, *more):\n        return " + result + "\ndef get_inputs():\n    return [" + inputs +
         "]\ndef get_init_inputs():\n    return []\n";
}

Problem problem_of_module(const std::string& text, const std::string& file, const std::string& mode = "",
                          double steps = k_any) {
  const auto toml = find_operator("program")->format.from_module({text, file, "", mode, {}, {k_any, steps}});
  KW_CHECK(toml.has_value(), "{}", toml.error().to_string());
  auto problem = parse_problem(*toml, file);
  KW_CHECK(problem.has_value(), "{}", problem.error().to_string());
  return *std::move(problem);
}

class ProgramsOnDevice : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    BackendOptions options;
    options.device_id = "opencl:0";
    auto opened = open_process_backend(options);
    KW_CHECK(opened.has_value(), "{}", opened.error().to_string());
    backend_ = std::move(opened)->release();
  }
  static void TearDownTestSuite() {
    delete backend_;
    backend_ = nullptr;
  }

  Verdict verdict_of(const Problem& problem, Bundle bundle) {
    bundle.problem = problem.name;
    auto options = verifier_options(problem, "opencl", backend_->device(), parallel_for(usable_processors()), {});
    KW_CHECK(options.has_value(), "{}", options.error().to_string());
    options->secret_seed = 20261123;
    auto verifier = LocalVerifier::open(problem, *backend_, clock_, *std::move(options));
    KW_CHECK(verifier.has_value(), "{}", verifier.error().to_string());
    return (*verifier)->verify(make_candidate(std::move(bundle)).value()).verdict;
  }
  Bundle plain(const Problem& problem) { return emit_bundle(problem, "opencl", "plain", backend_->device()).value(); }

  static inline ExecutionBackend* backend_ = nullptr;
  SteadyClock clock_;
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
  const Problem problem = problem_of_module(module_of(edit.module, "", edit.inputs), "right.py");
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
