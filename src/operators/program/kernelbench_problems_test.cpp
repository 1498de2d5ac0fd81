// All 200 modules of KernelBench's levels 1 and 2 as problems: each is derived, drawn and answered at its small
// workloads. The files lie outside of the project (KW_KERNELBENCH, or beside the repository's shared folder); without
// them the test says that it was skipped.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "operators/program/oracle_glue.hpp"
#include "operators/program/parts.hpp"
#include "operators/program/program_detail.hpp"

namespace kw {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> kernelbench_files() {
  const char* const chosen = std::getenv("KW_KERNELBENCH");
  const fs::path root = chosen != nullptr ? chosen : KW_KERNELBENCH_DIRECTORY;
  std::vector<fs::path> files;
  for (const char* const level : {"level1", "level2"}) {
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(root / level, none)) {
      if (entry.path().extension() == ".py") files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string module_in(const fs::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Of modules whose sizes stand in their code, no workload is small.
constexpr double k_most_steps = 2e6;

/// What is wrong with the problem; empty when nothing is. Dropout is read as in eval mode, where it is the identity.
std::string fault_of(const fs::path& path) {
  const std::string text = module_in(path);
  const std::string mode = text.find("ropout") != std::string::npos ? "eval" : "train";
  const auto toml = program_problem_text({text, path.filename().string(), "", mode, {}, {2e8, 1e30}});
  if (!toml) return toml.error().to_string();
  const auto problem = parse_problem(*toml, path.filename().string());
  if (!problem) return problem.error().to_string();
  for (const auto& workload : problem->workloads) {
    if (workload.role == WorkloadRole::primary || program_cost(*problem, workload).steps > k_most_steps) continue;
    const auto unchanged = [](const Problem&, const Workload&, const CaptureData&, InputValues&, Rng&) {};
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
  const auto files = kernelbench_files();
  if (files.empty()) GTEST_SKIP() << "no KernelBench here: set KW_KERNELBENCH to the folder that has level1 and level2";
  EXPECT_EQ(files.size(), 200U);
  // Rectified or clamped to zeros all over, at small sizes or always: no small workload says anything.
  const std::set<std::string> zeros = {"80_Gemm_Max_Subtract_GELU.py", "9_Matmul_Subtract_Multiply_ReLU.py"};
  for (std::size_t i = GetParam(); i < files.size(); i += k_parts) {
    const std::string name = files[i].filename().string();
    EXPECT_EQ(fault_of(files[i]), zeros.count(name) > 0 ? "derived_1 has no answer" : "") << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Parts, KernelBenchProblems, testing::Range(std::size_t{0}, KernelBenchProblems::k_parts));

}  // namespace
}  // namespace kw
