// All 200 modules of KernelBench's levels 1 and 2 as problems: each is derived, drawn and answered at its small
// workloads.

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "operators/program/conditioning.hpp"
#include "operators/program/parts.hpp"
#include "operators/program/program_detail.hpp"
#include "program/testing/kernelbench_files.hpp"

namespace kw {
namespace {

namespace fs = std::filesystem;

/// Of modules whose sizes stand in their code, no workload is small.
constexpr double k_most_steps = 2e6;

/// What is wrong with the problem; empty when nothing is. Dropout is read as in eval mode, where it is the identity.
std::string fault_of(const fs::path& path) {
  const std::string text = program_test::text_of_file(path);
  const std::string mode = text.find("ropout") != std::string::npos ? "eval" : "train";
  const auto toml = program_problem_text({text, path.filename().string(), "", mode, {}, {2e8, 1e30}});
  if (!toml) return toml.error().to_string();
  const auto problem = parse_problem(*toml, path.filename().string());
  if (!problem) return problem.error().to_string();
  for (const auto& workload : problem->workloads) {
    if (workload.role == WorkloadRole::primary || program_cost(*problem, workload).steps > k_most_steps) continue;
    const auto unchanged = [](const Problem&, const Workload&, const CaptureData&, InputValues&, Rng&,
                              const ParallelFor&) {};
    if (!is_answered(*problem, workload, unchanged)) return workload.name + " has no answer";
  }
  return "";
}

/// Every eighth file: under a sanitizer all of them take minutes.
class KernelBenchProblems : public testing::TestWithParam<std::size_t> {
 public:
  static constexpr std::size_t k_parts = 8;
};

TEST_P(KernelBenchProblems, are_derived_and_have_answers) {
  const auto files = program_test::kernelbench_files();
  if (files.empty()) GTEST_SKIP() << program_test::no_kernelbench();
  EXPECT_EQ(files.size(), 200U);
  // Rectified or clamped to zeros all over, at small sizes or always: no small workload says anything.
  const std::set<std::string> zeros = {"80_Gemm_Max_Subtract_GELU.py", "9_Matmul_Subtract_Multiply_ReLU.py",
                                       "83_Conv3d_GroupNorm_Min_Clamp_Dropout.py"};
  for (std::size_t i = GetParam(); i < files.size(); i += k_parts) {
    const std::string name = files[i].filename().string();
    const auto fault = fault_of(files[i]);
    EXPECT_EQ(fault.ends_with(" has no answer"), zeros.count(name) > 0) << name << ": " << fault;
    EXPECT_TRUE(zeros.count(name) > 0 || fault.empty()) << name << ": " << fault;
  }
}

INSTANTIATE_TEST_SUITE_P(Parts, KernelBenchProblems, testing::Range(std::size_t{0}, KernelBenchProblems::k_parts));

}  // namespace
}  // namespace kw
