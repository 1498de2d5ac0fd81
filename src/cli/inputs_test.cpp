// What commands read: problems by name and by file, assignments, bundles and their rows.

#include "cli/inputs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/file_system.hpp"
#include "base/testing/scratch_directory.hpp"
#include "record/testing/synthetic_attempt.hpp"

namespace kw {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* k_problem = R"(name = "mine"
op = "attention"
[axes]
B = 1
Hq = 2
Hkv = 2
Sq = 16
Skv = 16
D = 16
Dv = 16
[attention]
dtype = "f32"
[[workload]]
name = "odd"
role = "edge"
Sq = 7
)";

class Inputs : public ::testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) {
    const auto path = scratch_.path() / name;
    RealFileSystem files;
    EXPECT_TRUE(files.write_atomic(path, text));
    return path.string();
  }
  [[nodiscard]] std::string path(const std::string& name) const { return (scratch_.path() / name).string(); }

 private:
  ScratchDirectory scratch_;
};

template <typename T>
void expect_error(const Result<T>& result, ErrorCode code, const std::string& message, const std::string& hint) {
  ASSERT_FALSE(result) << message;
  EXPECT_EQ(result.error().code.name, code.name);
  EXPECT_EQ(result.error().message, message);
  EXPECT_EQ(result.error().hint, hint);
}

TEST_F(Inputs, reads_a_problem_by_its_name) {
  const auto problem = read_problem({"attention/alibi", {}, {}});
  ASSERT_TRUE(problem) << problem.error().to_string();
  EXPECT_EQ(problem->name, "attention/alibi");
}

TEST_F(Inputs, suggests_the_name_that_was_probably_meant) {
  expect_error(read_problem({"attention/alibo", {}, {}}), errc::not_found,
               "there is no problem named 'attention/alibo'", "attention/alibi?");
}

TEST_F(Inputs, sets_axes_of_the_primary_workload_in_order) {
  const auto problem = read_problem({write("mine.toml", k_problem), {"Sq=32", "Skv=64", "Sq=8"}, {}});
  ASSERT_TRUE(problem) << problem.error().to_string();
  EXPECT_EQ(problem->primary().axes.at("Sq"), 8);
  EXPECT_EQ(problem->primary().axes.at("Skv"), 64);
}

TEST_F(Inputs, refuses_assignments_that_set_no_axis) {
  const std::string file = write("mine.toml", k_problem);
  expect_error(read_problem({file, {"Sq=many"}, {}}), errc::problem_set, "'Sq=many' does not set an axis",
               "write AXIS=NUMBER, as in Sq=4096");
  expect_error(read_problem({file, {"Sqq=4"}, {}}), errc::problem_set, "the problem has no axis 'Sqq'", "'Sq'?");
}

TEST_F(Inputs, replaces_the_mods_by_those_of_a_python_file) {
  const std::string masks = write("masks.py",
                                  "def causal(b, h, q_idx, kv_idx):\n    return q_idx >= kv_idx\n\n"
                                  "def window(size):\n    def inner(b, h, q_idx, kv_idx):\n"
                                  "        return q_idx - kv_idx <= size\n    return inner\n");
  const std::string file = write("mine.toml", k_problem);
  for (const char* mod : {":causal", ":window(4)"}) {
    const auto problem = read_problem({file, {}, {masks + mod}});
    ASSERT_TRUE(problem) << mod << ": " << problem.error().to_string();
    EXPECT_NE(problem->canonical_text(), read_problem({file, {}, {}})->canonical_text()) << mod;
  }
}

TEST_F(Inputs, refuses_two_mods_of_one_kind) {
  const std::string masks = write("masks.py",
                                  "def near(b, h, q, k):\n    return q - k < 3\n"
                                  "def past(b, h, q, k):\n    return q >= k\n"
                                  "def half(score, b, h, q, k):\n    return score / 2\n");
  const std::string file = write("mine.toml", k_problem);
  EXPECT_TRUE(read_problem({file, {}, {masks + ":near", masks + ":half"}}));
  expect_error(read_problem({file, {}, {masks + ":near", masks + ":half", masks + ":past"}}), errc::command_line,
               "--mod \"" + masks + ":near\" and --mod \"" + masks + ":past\" are both a mask_mod",
               "join them, as in --mod masks.py:'and_masks(first, second)'");
}

TEST_F(Inputs, refuses_a_mod_that_is_not_a_file_with_a_name) {
  const std::string file = write("mine.toml", k_problem);
  for (const std::string mod : {"masks.py", "masks.py:", "causal", "masks.txt:causal"}) {
    expect_error(read_problem({file, {}, {mod}}), errc::command_line, "--mod \"" + mod + "\" is not FILE.py:NAME",
                 "write for example --mod masks.py:sliding_window");
  }
  const auto missing = read_problem({file, {}, {path("none.py") + ":causal"}});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code.name, errc::not_found.name);
  EXPECT_THAT(missing.error().message, HasSubstr("none.py"));
}

TEST_F(Inputs, points_into_the_python_file_where_the_mod_is_wrong) {
  const std::string masks = write("masks.py", "def far(b, h, q_idx, kv_idx):\n    return torch.fft(q_idx)\n");
  const auto refused = read_problem({write("mine.toml", k_problem), {}, {masks + ":far"}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().where.file, masks);
  EXPECT_EQ(refused.error().where.line, 2);
  EXPECT_THAT(refused.error().message, HasSubstr("torch.fft"));
}

TEST_F(Inputs, reads_what_a_mod_imports_from_files_beside) {
  write("helpers.py", "LIMIT = 4\ndef near(q, k):\n    return q - k <= LIMIT\n");
  const std::string masks =
      write("masks.py", "from helpers import near\ndef window(b, h, q, k):\n    return near(q, k)\n");
  const std::string file = write("mine.toml", k_problem);
  const auto problem = read_problem({file, {}, {masks + ":window"}});
  ASSERT_TRUE(problem) << problem.error().to_string();
  std::filesystem::remove(path("helpers.py"));
  const auto again = read_again(*problem->source);
  ASSERT_TRUE(again) << again.error().to_string();
  EXPECT_EQ(again->id(), problem->id());
  const auto missing = read_problem({file, {}, {masks + ":window"}});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().where.file, masks);
  EXPECT_THAT(missing.error().hint, HasSubstr("there is no " + path("helpers.py") + " or " + path("helpers/__init__")));
}

TEST_F(Inputs, refuses_imports_from_what_is_no_file) {
  const std::string masks =
      write("masks.py", "from helpers import near\ndef window(b, h, q, k):\n    return near(q, k)\n");
  const std::string file = write("mine.toml", k_problem);
  std::filesystem::create_directory(path("helpers.py"));
  expect_error(read_problem({file, {}, {masks + ":window"}}), errc::not_a_file,
               path("helpers.py") + " is a directory, not a file", "name a regular file");
  std::filesystem::remove(path("helpers.py"));
  ASSERT_EQ(::mkfifo(path("helpers.py").c_str(), 0600), 0);
  expect_error(read_problem({file, {}, {masks + ":window"}}), errc::not_a_file,
               path("helpers.py") + " is a pipe, not a file", "name a regular file");
}

TEST_F(Inputs, mods_of_a_problem_file_import_from_its_folder) {
  write("helpers.py", "def near(q, k):\n    assert Sq > 7, 'long'\n    return q - k <= 4\n");
  std::string text = k_problem;
  text.insert(text.find("[[workload]]"),
              "mask_mod = \"\"\"\nfrom helpers import near\nlambda b, h, q, k: near(q, k)\n\"\"\"\n");
  const auto refused = read_problem({write("mine.toml", text), {}, {}});
  ASSERT_FALSE(refused) << "the assertion does not hold in a workload";
  EXPECT_EQ(refused.error().where.file, path("helpers.py"));
  EXPECT_EQ(refused.error().where.line, 2);
  write("helpers.py", "def near(q, k):\n    return q - k <= 4\n");
  const auto problem = read_problem({write("mine.toml", text), {}, {}});
  ASSERT_TRUE(problem) << problem.error().to_string();
  const auto again = read_again(*problem->source);
  ASSERT_TRUE(again) << again.error().to_string();
  EXPECT_EQ(again->id(), problem->id());
}

TEST_F(Inputs, reads_assignments_of_whole_numbers) {
  const auto read = read_assignments({"ROWS=4", "OFFSET=-2", "ROWS=8"}, "--tune");
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_EQ(*read, (IntBindings{{"OFFSET", -2}, {"ROWS", 8}}));
  for (const std::string text : {"ROWS", "=4", "ROWS=", "ROWS=4x", "ROWS=0x4", "ROWS=99999999999999999999"}) {
    expect_error(read_assignments({text}, "--tune"), errc::command_line, "--tune \"" + text + "\" is not NAME=INTEGER",
                 "write for example --tune ROWS=4");
  }
}

TEST_F(Inputs, reads_conditions_that_are_expressions) {
  const auto read = read_conditions({"Skv >= 4096", "B == 1"});
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_THAT(*read, ElementsAre("Skv >= 4096", "B == 1"));
  expect_error(read_conditions({"B == 1", "Skv >="}), errc::command_line,
               "--when \"Skv >=\": in \"Skv >=\": expected a number, a name or '(' at character 7, found the end",
               "write an expression of axes and device facts, such as 'Skv >= 4096'");
}

TEST_F(Inputs, reads_a_bundle_and_assigns_its_tunables) {
  const Bundle bundle = synthetic::bundle();
  const std::string file = write("k.cl", bundle.to_text());
  const auto candidate = read_candidate(file, {"BM=8"});
  ASSERT_TRUE(candidate) << candidate.error().to_string();
  EXPECT_EQ(candidate->bundle, bundle);
  EXPECT_EQ(candidate->tunables, (IntBindings{{"BM", 8}, {"BN", 128}, {"UNROLL", 1}}));
  expect_error(read_candidate(file, {"BM=3"}), errc::candidate_tunable,
               "tunable BM cannot be 3; its values are 2, 4, 6, 8", "");
}

TEST_F(Inputs, says_which_bundle_is_missing_or_wrong) {
  const auto missing = read_bundle(path("none.cl"));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code.name, errc::not_found.name);
  EXPECT_THAT(missing.error().message, HasSubstr("none.cl"));
  const std::string file = write("bare.cl", "__kernel void k() {}\n");
  const auto bare = read_bundle(file);
  ASSERT_FALSE(bare);
  EXPECT_EQ(bare.error().code.name, errc::bundle_no_header.name);
  EXPECT_EQ(bare.error().where.file, file);
}

TEST_F(Inputs, writes_a_row_that_is_read_again) {
  const std::string file = path("rows.cl");
  const auto first = write_with_row(synthetic::bundle(), {"h200", {}, {{"BM", 8}}}, file);
  ASSERT_TRUE(first) << first.error().to_string();
  EXPECT_EQ(*first, 0U);
  const auto second = write_with_row(*read_bundle(file), {"h200", {"Sq >= 512"}, {{"BM", 2}}}, file);
  ASSERT_TRUE(second) << second.error().to_string();
  EXPECT_EQ(*second, 0U) << "a row with more conditions stands before one of the same device with fewer";
  const auto read = read_bundle(file);
  ASSERT_TRUE(read) << read.error().to_string();
  ASSERT_EQ(read->dispatch.size(), 2U);
  EXPECT_EQ(read->dispatch[1].tunables.at("BM"), 8);
  EXPECT_EQ(read->source, synthetic::bundle().source);
}

TEST_F(Inputs, writes_nothing_that_would_not_be_read_again) {
  const auto refused = write_with_row(synthetic::bundle(), {"", {"Sq >="}, {{"BM", 8}}}, path("rows.cl"));
  EXPECT_FALSE(refused);
  EXPECT_FALSE(std::filesystem::exists(path("rows.cl")));
}

TEST_F(Inputs, reads_the_tiers_of_the_sandbox) {
  EXPECT_EQ(read_tier("none"), SandboxTier::none);
  EXPECT_EQ(read_tier("a"), SandboxTier::a);
  EXPECT_EQ(read_tier("c"), SandboxTier::c);
  expect_error(read_tier("B"), errc::command_line, "--require-sandbox \"B\" is not a tier", "write none, a, b or c");
}

}  // namespace
}  // namespace kw
