// The language of this folder from a bundle's text through the compiler and the real verifier, on the machine's device.
// Nothing outside this folder and its line in registrations.cpp knows of it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/file_system.hpp"
#include "codegen/calibration.hpp"
#include "codegen/codegen.hpp"
#include "language/language.hpp"
#include "loop/run_directory.hpp"
#include "loop/threads.hpp"
#include "loop/verifier_setup.hpp"
#include "problem/problem.hpp"
#include "propose/llm/prompts/prompts.hpp"
#include "tests/seams/few_rows/few_rows.hpp"
#include "verify/local_verifier.hpp"
#include "verify/processes/process_backend.hpp"

namespace kw {
namespace {

using testing::HasSubstr;

constexpr const char* k_alias = "opencl_alias";

template <typename T>
T require(Result<T> result) {
  KW_CHECK(result.has_value(), "{}", result.error().to_string());
  return *std::move(result);
}

Problem small_problem() {
  return require(load_problem("tests/problems/tiny_causal.toml", RealFileSystem(), {}));
}

/// What a style of OpenCL writes, as text of the other language, read back.
Candidate candidate_of(const Problem& problem, const char* style, const DeviceFacts& device) {
  Bundle bundle = require(emit_bundle(problem, "opencl", style, device));
  bundle.target = k_alias;
  // Where a processor has few registers, a style's guess has more rows than the gate of few_rows/ lets through.
  for (Tunable& tunable : bundle.tunables) {
    if (tunable.name == "ROWS") tunable.default_value = std::min(tunable.default_value, k_few_rows);
  }
  return require(make_candidate(require(parse_bundle(bundle.to_text(), "a bundle"))));
}

TEST(OpenclAlias, is_built_and_verified_like_any_other_language) {
  BackendOptions options;
  options.target = k_alias;
  const auto bench = require(open_process_backend(options));
  EXPECT_EQ(bench->device().target, k_alias);
  EXPECT_TRUE(bench->device().id.starts_with("opencl:"));

  const Problem problem = small_problem();
  VerifierOptions setup;
  setup.secret_seed = 20261122;
  setup.device = bench->device();
  setup.plain = candidate_of(problem, "plain", bench->device());
  setup.parallel = parallel_for(usable_processors());
  const SteadyClock clock;
  const auto verifier = require(LocalVerifier::open(problem, *bench, clock, std::move(setup)));
  const VerifyResult result = verifier->verify(candidate_of(problem, "vector", bench->device()));
  EXPECT_TRUE(result.verdict.accepted()) << result.verdict.message << "\n" << result.build.log;
  ASSERT_TRUE(result.measurement.has_value());
  EXPECT_GT(result.measurement->median_ns, 0);
}

TEST(OpenclAlias, is_measured_named_and_explained_by_its_row) {
  DeviceFacts device = host_cpu_facts();
  device.target = k_alias;
  EXPECT_TRUE(multiply_add_calibration(device));
  EXPECT_EQ(RunDirectory("runs", "1").best_bundle(k_alias).filename(), "best.ocl");
  const Problem problem = small_problem();
  PromptContext context;
  context.problem = &problem;
  context.device = device;
  context.target = k_alias;
  const auto messages = first_prompt(context, {}, 0);
  EXPECT_THAT(messages.back().text, HasSubstr("OpenCL C by another name source"));
  EXPECT_THAT(messages.back().text, HasSubstr("The source is OpenCL C 1.2"));
}

}  // namespace
}  // namespace kw
