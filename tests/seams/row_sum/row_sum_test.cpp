// That a second operator is one folder and one line: problem files, prompts, checks, and the whole loop on a device.

#include "tests/seams/row_sum/row_sum.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/scratch_directory.hpp"
#include "codegen/codegen.hpp"
#include "loop/run.hpp"
#include "loop/threads.hpp"
#include "loop/verifier_setup.hpp"
#include "problem/file/problem_mod.hpp"
#include "propose/llm/prompts/prompts.hpp"
#include "tests/seams/row_sum/kernels.hpp"
#include "verify/checking/fresh_data.hpp"
#include "verify/checking/probes.hpp"
#include "verify/local_verifier.hpp"
#include "verify/processes/process_backend.hpp"

namespace kw {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string k_matrix = R"(
name = "tests/seams/row_sum/matrix"
op = "row_sum"
description = "Sums of rows."
[axes]
Rows = 300
Columns = 1000
[row_sum]
axes = ["Rows", "Columns"]
[[workload]]
name = "one_row"
role = "edge"
Rows = 1
[[workload]]
name = "one_column"
role = "edge"
Columns = 1
[[workload]]
name = "odd"
role = "held_out"
Rows = 7
Columns = 33
)";

/// All numbers to one sum.
const std::string k_scalar = R"(
name = "tests/seams/row_sum/scalar"
op = "row_sum"
[axes]
N = 5000
[row_sum]
axes = ["N"]
[[workload]]
name = "one"
role = "edge"
N = 1
[[workload]]
name = "odd"
role = "held_out"
N = 77
)";

const std::string k_chunked = R"(
name = "tests/seams/row_sum/chunked"
op = "row_sum"
[axes]
A = 3
B = 5
N = 1000
[row_sum]
axes = ["A", "B", "N"]
chunk = 32
[[workload]]
name = "odd"
role = "edge"
B = 2
N = 33
)";

Problem parsed(const std::string& text) {
  auto problem = parse_problem(text, "row_sum.toml");
  KW_CHECK(problem.has_value(), "{}", problem.error().to_string());
  return *std::move(problem);
}

TEST(RowSum, has_the_axes_that_its_problem_names) {
  const Problem problem = parsed(k_matrix);
  EXPECT_EQ(problem.inputs[0].axes, (std::vector<std::string>{"Rows", "Columns"}));
  EXPECT_EQ(problem.outputs[0].axes, (std::vector<std::string>{"Rows"}));
  EXPECT_THAT(problem.canonical_text(), HasSubstr("workload primary Columns=1000 Rows=300\n"));
  EXPECT_EQ(parsed(k_scalar).outputs[0].axes, std::vector<std::string>());
}

TEST(RowSum, derives_an_extent_from_others) {
  const Problem problem = parsed(k_chunked);
  EXPECT_EQ(problem.primary().axes.at("Chunks"), 32);
  EXPECT_EQ(problem.workloads[1].axes.at("Chunks"), 2);
  EXPECT_EQ(with_axes(problem, {"N=64"})->primary().axes.at("Chunks"), 2);
  EXPECT_THAT(problem.canonical_text(), HasSubstr("derived Chunks ceil_div(N, 32)\n"));
  EXPECT_EQ(with_axes(problem, {"Chunks=3"}).error().to_string(),
            "Chunks follows from other axes: ceil_div(N, 32) [problem.set]\n  try: set those");
}

TEST(RowSum, may_use_names_that_only_the_kernels_of_attention_use) {
  EXPECT_EQ(parsed(k_chunked).primary().axes.at("B"), 5);
  auto text = k_chunked;
  text.replace(text.find("A = 3"), 5, "X = 3");
  EXPECT_EQ(parse_problem(text, "t.toml").error().message, "'X' already means something in this operator");
}

TEST(RowSum, takes_no_mods) {
  const auto refused = with_mod(parsed(k_matrix), "def f(b, h, q, k):\n  return q >= k\n", "mods.py", "f");
  EXPECT_EQ(refused.error().to_string(),
            "operator row_sum takes no mods, and f is one [problem.unknown_op]\n  try: leave it out");
}

TEST(RowSum, is_explained) {
  const Problem problem = parsed(k_matrix);
  const auto explained = operator_of(problem).explain(problem);
  EXPECT_EQ(explained->lines, std::vector<std::string>{"each sum has 1000 terms at most"});
}

TEST(RowSum, is_told_to_models_in_its_own_words) {
  const Problem problem = parsed(k_matrix);
  PromptContext context;
  context.problem = &problem;
  context.target = "opencl";
  const auto prompt = first_prompt(context, {}, 0);
  EXPECT_THAT(prompt.back().text, HasSubstr("Y = the sum of X over its last axis."));
  EXPECT_THAT(prompt.back().text, HasSubstr("Give each row to one work-group"));
  EXPECT_THAT(prompt.back().text, Not(HasSubstr("softmax")));
  EXPECT_THAT(prompt.back().text, Not(HasSubstr("quer")));
}

TEST(RowSum, has_fresh_data_with_the_answer_that_the_oracle_gives) {
  for (const auto& text : {k_matrix, k_scalar, k_chunked}) {
    const Problem problem = parsed(text);
    const auto suite = CheckSuite::make(problem, 3, serial_for);
    ASSERT_TRUE(suite) << suite.error().to_string();
    const WorkloadCosts costs(problem);
    Rng rng(5);
    const FreshCase fresh = draw_fresh(problem, suite->cases().front(), costs, rng);
    EXPECT_NE(fresh.one.inputs, suite->cases().front().inputs) << problem.name;
    const auto answer = evaluate_oracle(problem, problem.primary(), fresh.one.inputs).value();
    ASSERT_EQ(fresh.answers.size(), 1U);
    ASSERT_EQ(fresh.answers[0].elements.size(), answer[0].size()) << "all sums are cheap enough to be known";
    for (std::size_t i = 0; i < answer[0].size(); ++i) {
      ASSERT_NEAR(fresh.answers[0].values[i], answer[0][static_cast<std::size_t>(fresh.answers[0].elements[i])], 1e-9);
    }
  }
}

TEST(RowSum, of_one_number_has_an_output_without_axes) {
  const Problem problem = parsed(k_scalar);
  EXPECT_EQ(element_count(problem.outputs[0], problem.primary().axes).value(), 1);
  auto suite = CheckSuite::make(problem, 3, serial_for).value();
  for (const auto& one : suite.cases()) EXPECT_EQ(one.expected[0].size(), 1U);
  suite.allow_errors(problem, std::vector<std::vector<double>>(suite.cases().size(), {1e-7}));
  const auto scorable = suite.require_scorable(problem);
  EXPECT_TRUE(scorable) << scorable.error().to_string();
}

TEST(RowSum, is_refused_where_its_first_element_is_the_answer) {
  auto text = k_matrix;
  text.replace(text.find("Columns = 1000"), 14, "Columns = 1");
  text.resize(text.find("[[workload]]\nname = \"odd\""));
  const Problem problem = parsed(text);
  auto suite = CheckSuite::make(problem, 3, serial_for).value();
  suite.allow_errors(problem, std::vector<std::vector<double>>(suite.cases().size(), {1e-7}));
  EXPECT_EQ(suite.require_scorable(problem).error().message,
            "tests/seams/row_sum/matrix cannot be scored: a copy of X as Y passes every check");
}

class QuietObserver final : public RunObserver {
 public:
  void phase(const std::string&) override {}
  void attempt(const RunRecord&, const Attempt& attempt, const BudgetUse&) override { attempts.push_back(attempt); }
  void turn(const RunRecord&, const Turn&, const BudgetUse&) override {}
  void warning(const std::string& text) override { warnings.push_back(text); }
  std::vector<Attempt> attempts;
  std::vector<std::string> warnings;
};

class RowSumOnDevice : public testing::Test {
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

  Verdict verdict_of(const Problem& problem, const Candidate& candidate) {
    auto options = verifier_options(problem, "opencl", backend_->device(), parallel_for(usable_processors()), {});
    KW_CHECK(options.has_value(), "{}", options.error().to_string());
    options->secret_seed = 20261122;
    auto verifier = LocalVerifier::open(problem, *backend_, clock_, *std::move(options));
    KW_CHECK(verifier.has_value(), "{}", verifier.error().to_string());
    return (*verifier)->verify(candidate).verdict;
  }
  Verdict verdict_of(const Problem& problem, const std::string& bundle) {
    return verdict_of(problem, make_candidate(parse_bundle(bundle, "test").value()).value());
  }

  static inline ExecutionBackend* backend_ = nullptr;
  SteadyClock clock_;
};

TEST_F(RowSumOnDevice, accepts_an_honest_kernel) {
  const Verdict verdict = verdict_of(parsed(k_matrix), k_row_sum_honest);
  EXPECT_TRUE(verdict.accepted()) << verdict.message;
}

TEST_F(RowSumOnDevice, rejects_a_kernel_that_drops_the_last_element) {
  const Verdict verdict = verdict_of(parsed(k_matrix), k_row_sum_without_the_last);
  EXPECT_EQ(verdict.reason, Reason::wrong_result) << verdict.message;
}

TEST_F(RowSumOnDevice, verifies_every_style_at_every_rank) {
  for (const auto& text : {k_matrix, k_scalar, k_chunked}) {
    const Problem problem = parsed(text);
    auto bundle = emit_bundle(problem, "opencl", "groups", backend_->device()).value();
    const Verdict verdict = verdict_of(problem, make_candidate(std::move(bundle)).value());
    EXPECT_TRUE(verdict.accepted()) << problem.name << ": " << verdict.message;
  }
}

TEST_F(RowSumOnDevice, goes_through_the_whole_loop) {
  const ScratchDirectory scratch;
  RunSetup setup;
  setup.problem = parsed(k_matrix);
  setup.root = scratch.path();
  setup.version = "test";
  setup.started_utc = "2026-01-01T00:00:00Z";
  setup.limits = parse_budget("4c").value();
  auto archive = open_archive(RunDirectory::archive(setup.root), ArchiveOptions());
  ASSERT_TRUE(archive) << archive.error().to_string();
  RealFileSystem files;
  QuietObserver observer;
  const std::atomic<bool> stop{false};
  RunServices world{*backend_, **archive, files, clock_, observer, stop, parallel_for(usable_processors())};
  const auto record = run_loop(setup, world);
  ASSERT_TRUE(record) << record.error().to_string();
  EXPECT_EQ(record->op, "row_sum");
  ASSERT_EQ(observer.attempts.size(), 4U);
  for (const auto& attempt : observer.attempts) {
    EXPECT_TRUE(attempt.verdict.accepted() || attempt.verdict.reason == Reason::none) << attempt.verdict.message;
    EXPECT_EQ(attempt.candidate.bundle.generator, "row_sum groups 1");
  }
  EXPECT_THAT(record->distributions, testing::Contains("heavy_end"));
  EXPECT_TRUE(files.exists(RunDirectory(setup.root, record->id).folder()));
}

}  // namespace
}  // namespace kw
