#include "operators/program/kernels/plain.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "codegen/codegen.hpp"
#include "codegen/testing/devices.hpp"
#include "operators/program/kernels/styles.hpp"
#include "operators/program/testing/program_fixture.hpp"
#include "program/reader/program_reader.hpp"
#include "program/testing/kernelbench_files.hpp"
#include "program/testing/module_text.hpp"
#include "record/launch_plan.hpp"

namespace kw {
namespace {

namespace fs = std::filesystem;
using program_test::module_text;
using program_test::problem_of;
using ::testing::HasSubstr;

Result<Problem> problem_from(const std::string& text) {
  KW_TRY(const auto program, read_program(text, "m.py"));
  return problem_of(program);
}

Result<Problem> problem_from_file(const fs::path& path) {
  return problem_from(program_test::text_of_file(path));
}

/// Empty where every style writes a bundle that reads back as the same, in lines that fit a page.
std::string fault_of(const Result<Problem>& problem) {
  if (!problem) return problem.error().to_string();
  for (const auto& style : program_styles()) {
    const auto bundle = style.emit(*problem, avx512_device(), {});
    // With all numbers of a file as axes, sizes may be too long to be written.
    if (!bundle && style.name == "fused" && bundle.error().code == errc::codegen_unsupported) continue;
    if (!bundle) return bundle.error().to_string();
    const auto again = parse_bundle(bundle->to_text(), "b.cl");
    if (!again) return again.error().to_string();
    if (!(*again == *bundle)) return "reads back as another bundle";
    for (const auto& tunable : bundle->tunables) {
      // One family's definition would change the value that another one's tunable has.
      if (bundle->source.find("#define " + tunable.name + " ") != std::string::npos) return "defines " + tunable.name;
    }
    std::stringstream lines(bundle->source);
    for (std::string line; std::getline(lines, line);) {
      if (line.size() > 120) return "a long line: " + line;
    }
  }
  return "";
}

TEST(ProgramPlain, writes_every_module_of_the_repository) {
  for (const auto& entry : fs::directory_iterator("problems/program")) {
    if (entry.path().extension() != ".py") continue;
    EXPECT_EQ(fault_of(problem_from_file(entry.path())), "") << entry.path();
  }
}

TEST(ProgramPlain, writes_every_problem_of_kernelbench) {
  const auto files = program_test::kernelbench_files();
  if (files.empty()) GTEST_SKIP() << program_test::no_kernelbench();
  for (const auto& path : files) EXPECT_EQ(fault_of(problem_from_file(path)), "") << path;
}

TEST(ProgramPlain, passes_extents_as_arguments) {
  const auto text = "N = 4\nM = 6\n" + module_text("return torch.relu(x).sum(dim=1)", "torch.randn(N, M)");
  const auto problem = problem_from(text).value();
  const auto bundle = emit_program_plain(opencl_dialect(), problem).value();
  EXPECT_THAT(bundle.source, HasSubstr("  relu_0[id] = larger(x_[id], 0.0f);\n"));
  EXPECT_THAT(bundle.source, HasSubstr("  for (int j = 0; j < M"));
  const auto plan = plan_launches({bundle, {}}, problem, {{"N", 3}, {"M", 5}, {"out_0", 3}}, avx512_device());
  ASSERT_TRUE(plan) << plan.error().to_string();
  EXPECT_EQ(plan->buffers[2].bytes, 3 * 5 * 4);
}

TEST(ProgramPlain, tests_a_guard_in_the_outermost_loop_that_knows_it) {
  const auto text =
      module_text("return self.c(x)", "torch.randn(2, 3, 8, 9)", "self.c = nn.Conv2d(3, 4, 3, padding=1)");
  const auto bundle = emit_program_plain(opencl_dialect(), problem_from(text).value()).value();
  EXPECT_THAT(bundle.source, HasSubstr("    for (int ky = 0; ky < 3; ++ky) {\n"
                                       "      const int place_0 = y + ky - 1;\n"
                                       "      if (!(0 <= place_0 && place_0 < 8)) continue;\n"));
}

TEST(ProgramPlain, keeps_intermediate_results_in_as_little_memory_as_two_of_them) {
  const auto text = module_text("for i in range(5):\n    x = torch.exp(x)\nreturn x", "torch.randn(7)");
  const auto bundle = emit_program_plain(cuda_dialect(), problem_from(text).value()).value();
  EXPECT_EQ(bundle.launches.size(), 5U);
  EXPECT_EQ(bundle.scratch.size(), 2U);
}

}  // namespace
}  // namespace kw
