// Every problem that is shipped: it loads, its tensors can be drawn, it says what it is for, and it is small enough to
// be checked. That the masks are the ones their names promise is tested where a definition of its own exists.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/file_system.hpp"
#include "mod/analysis/analysis.hpp"
#include "problem/problem.hpp"

namespace kw {
namespace {

const std::filesystem::path k_folder = "problems";
const RealFileSystem k_files;

std::vector<std::string> names() {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(k_folder)) {
    if (entry.path().extension() != ".toml") continue;
    found.push_back(entry.path().lexically_relative(k_folder).replace_extension().generic_string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

double operations(const Workload& workload) {
  const auto extent = [&](const char* name) { return static_cast<double>(workload.axes.at(name)); };
  return 2.0 * extent("B") * extent("Hq") * extent("Sq") * extent("Skv") * (extent("D") + extent("Dv"));
}

class ShippedProblem : public testing::TestWithParam<std::string> {};

TEST_P(ShippedProblem, loads_under_its_name_and_says_what_it_is_for) {
  const auto problem = load_problem(GetParam(), k_files, {k_folder});
  ASSERT_TRUE(problem) << problem.error().to_string();
  EXPECT_EQ(problem->name, GetParam());
  ASSERT_FALSE(problem->description.empty());
  EXPECT_EQ(problem->description.back(), '.');
  const auto text = k_files.read(k_folder / (GetParam() + ".toml"), 1 << 20).value();
  EXPECT_EQ(text.substr(0, 2), "# ") << "a comment says what the problem is for";
  EXPECT_NE(text.substr(0, text.find("name =")).find("The workloads' traps: "), std::string::npos);
}

TEST_P(ShippedProblem, has_small_workloads_of_every_role) {
  const auto problem = load_problem(GetParam(), k_files, {k_folder}).value();
  std::set<WorkloadRole> roles;
  for (const auto& workload : problem.workloads) {
    roles.insert(workload.role);
    const bool primary = workload.role == WorkloadRole::primary;
    EXPECT_LE(operations(workload), primary ? 2.2e9 : 3e8) << workload.name;
  }
  EXPECT_EQ(roles.size(), 3U);
}

TEST_P(ShippedProblem, draws_its_tensors_for_every_workload_and_seed) {
  constexpr std::uint64_t k_seeds = 20;
  const auto problem = load_problem(GetParam(), k_files, {k_folder}).value();
  for (const auto& workload : problem.workloads) {
    const bool primary = workload.role == WorkloadRole::primary;
    for (std::uint64_t seed = 0; seed < (primary ? 2 : k_seeds); ++seed) {
      const auto drawn = draw_captures(problem.captures, workload.axes, seed);
      ASSERT_TRUE(drawn) << workload.name << " seed " << seed << ": " << drawn.error().to_string();
      EXPECT_EQ(drawn->size(), problem.captures.size());
    }
    EXPECT_GT(cost(problem, workload).flops, 0.0) << workload.name;
    EXPECT_LE(cost(problem, workload).flops, operations(workload)) << workload.name;
  }
}

INSTANTIATE_TEST_SUITE_P(All, ShippedProblem, testing::ValuesIn(names()), [](const auto& each) {
  auto name = each.param;
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
});

TEST(ShippedProblems, differ_in_what_they_compute) {
  std::map<Hash, std::string> seen;
  for (const auto& name : names()) {
    const auto problem = load_problem(name, k_files, {k_folder}).value();
    const auto [known, is_new] = seen.emplace(problem.id(), name);
    EXPECT_TRUE(is_new) << name << " is the same as " << known->second;
  }
}

TEST(ProblemLibrary, names_each_problem_once_where_folders_are_searched_twice) {
  const auto missing = load_problem("nothing/like/any", k_files, {k_folder, k_folder});
  ASSERT_FALSE(missing);
  const std::string& hint = missing.error().hint;
  const std::size_t first = hint.find("attention/alibi_lse");
  ASSERT_NE(first, std::string::npos) << hint;
  EXPECT_EQ(hint.find("attention/alibi_lse", first + 1), std::string::npos) << hint;
}

}  // namespace
}  // namespace kw
