#include "loop/run_problem.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/file_system.hpp"
#include "base/testing/memory_files.hpp"
#include "problem/file/problem_mod.hpp"
#include "problem/problem.hpp"
#include "record/json.hpp"

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

RunRecord run_of(const Problem& problem) {
  RunRecord run;
  run.id = "4f1c0a9be27d3356";
  run.version = "0.1.0";
  run.problem = problem.name;
  run.problem_text = problem.canonical_text();
  run.problem_source = problem.source;
  return run;
}

/// Out of what would stand in an archive.
Result<Problem> read_from_record(const Problem& problem) {
  auto run = decode_run(encode(run_of(problem)));
  EXPECT_TRUE(run) << run.error().to_string();
  return problem_of(*run);
}

class ProblemOfRun : public testing::TestWithParam<std::string> {};

TEST_P(ProblemOfRun, is_the_one_that_was_asked_for) {
  const auto problem = load_problem(GetParam(), k_files, {k_folder}).value();
  const auto again = read_from_record(problem);
  ASSERT_TRUE(again) << again.error().to_string();
  EXPECT_EQ(again->id(), problem.id());
  EXPECT_EQ(again->name, problem.name);
  EXPECT_EQ(again->mod_text(), problem.mod_text());
}

INSTANTIATE_TEST_SUITE_P(Shipped, ProblemOfRun, testing::ValuesIn(names()), [](const auto& parameter) {
  std::string name = parameter.param;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '/' || c == '-'; }, '_');
  return name;
});

TEST(ProblemOfRun, keeps_the_files_that_its_mods_import_from) {
  MemoryFiles files;
  files.all["/user/near.py"] = "from .deep.limits import LIMIT\ndef near(q, k):\n    return q - k <= LIMIT\n";
  files.all["/user/deep/limits.py"] = "LIMIT = 9\n";
  files.all["/user/one.py"] = "ONE = 1.5\n";
  const std::string masks = "from near import near\ndef mask(b, h, q, k):\n    return near(q, k)\n";
  const std::string text = R"(name = "mine"
op = "attention"
[axes]
B = 1
Hq = 2
Sq = 16
D = 16
[attention]
dtype = "f32"
score_mod = """
from one import ONE
def more(score, b, h, q, k):
    return score + ONE
"""
[[workload]]
name = "odd"
role = "edge"
Sq = 7
)";
  auto problem = parse_problem(text, "/user/mine.toml", &files);
  ASSERT_TRUE(problem) << problem.error().to_string();
  problem = with_mod(*std::move(problem), masks, "/user/masks.py", "mask", &files);
  ASSERT_TRUE(problem) << problem.error().to_string();
  const auto again = read_from_record(*problem);
  ASSERT_TRUE(again) << again.error().to_string();
  EXPECT_EQ(again->id(), problem->id());
  EXPECT_EQ(again->mod_text(), problem->mod_text());
  EXPECT_NE(again->mod_text().find("# deep/limits.py\nLIMIT = 9\n"), std::string::npos) << again->mod_text();
}

TEST(ProblemOfRun, is_read_from_records_without_imported_files) {
  auto problem = load_problem("attention/full", k_files, {k_folder}).value();
  problem = with_mod(std::move(problem), "def causal(b, h, q, k):\n    return q >= k\n", "masks.py", "causal").value();
  const auto record = encode(run_of(problem));
  EXPECT_EQ(record.find("\"beside\""), std::string::npos) << "what has none is written as it was before";
  EXPECT_TRUE(read_from_record(problem));
}

TEST(ProblemOfRun, has_the_changes_of_the_command_line_in_their_order) {
  auto problem = load_problem("attention/full", k_files, {k_folder}).value();
  problem = with_axes(std::move(problem), {"Hkv=2", "Hq=4"}).value();
  problem = with_mod(std::move(problem),
                     "def window(n):\n"
                     "    def near(b, h, q_idx, kv_idx):\n"
                     "        return q_idx - kv_idx <= n\n"
                     "    return near\n",
                     "masks.py", "window(7)")
                .value();
  problem = with_axes(std::move(problem), {"Sq=96"}).value();
  const auto again = read_from_record(problem);
  ASSERT_TRUE(again) << again.error().to_string();
  EXPECT_EQ(again->id(), problem.id());
  EXPECT_EQ(again->name, problem.name);
  EXPECT_EQ(again->primary().axes.at("Sq"), 96);
}

TEST(ProblemOfRun, has_the_files_that_its_text_names) {
  const auto problem = load_problem("tests/npy/table.toml", k_files, {}).value();
  ASSERT_EQ(problem.source->files.size(), 1U);
  const auto again = read_from_record(problem);
  ASSERT_TRUE(again) << again.error().to_string();
  EXPECT_EQ(again->id(), problem.id());
}

TEST(ProblemOfRun, is_refused_where_a_file_was_too_large_to_be_kept) {
  auto problem = load_problem("tests/npy/table.toml", k_files, {}).value();
  const std::string large(static_cast<std::size_t>(k_most_kept_bytes) + 1, 'x');
  problem.source->files.clear();
  problem.source->add_file("table.npy", large);
  EXPECT_FALSE(problem.source->files.at(0).bytes.has_value());
  const auto refused = read_from_record(problem);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code.name, errc::problem_not_stored.name);
  EXPECT_EQ(refused.error().message, "table.npy was too large to be stored with the problem: 4194305 bytes");
  EXPECT_EQ(refused.error().hint,
            "read the problem from its own folder; the file's SHA-256 is " + hash_bytes(large).hex());
}

TEST(ProblemOfRun, is_refused_where_the_text_is_missing_or_means_something_else_now) {
  RunRecord run = run_of(load_problem("attention/full", k_files, {k_folder}).value());
  run.problem_text += "workload edge B=1\n";
  const auto other = problem_of(run);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code.name, errc::run_problem.name);
  EXPECT_EQ(other.error().message,
            "this version does not read the problem attention/full of run 4f1c0a9be27d3356 as version 0.1.0 did");
  run.problem_source.reset();
  const auto missing = problem_of(run);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message, "run 4f1c0a9be27d3356 keeps no text of its problem attention/full");
  EXPECT_EQ(missing.error().hint, "give the file that the run was given");
}

}  // namespace
}  // namespace kw
