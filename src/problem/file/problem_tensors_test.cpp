#include "problem/file/problem_tensors.hpp"

#include <gtest/gtest.h>

#include "base/testing/memory_files.hpp"
#include "problem/problem.hpp"

namespace kw {
namespace {

constexpr const char* k_problem = R"(name = "mine"
op = "attention"
[axes]
B = 1
Hq = 2
Sq = 16
D = 16
[attention]
dtype = "f32"
[[workload]]
name = "odd"
role = "edge"
Sq = 7
)";

/// Three numbers of four bytes as numpy.save writes them.
std::string npy(const std::string& descr, const std::string& bytes) {
  std::string header = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (3,), }";
  header.resize(117, ' ');
  header += '\n';
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header + bytes;
}

Result<Problem> with(const std::vector<std::string>& declarations, const FileSystem& files) {
  auto problem = parse_problem(k_problem, "mine.toml");
  return with_tensors(*std::move(problem), "mine.toml", declarations, files);
}
std::string refusal(const std::string& declaration) {
  const auto problem = with({declaration}, MemoryFiles());
  return problem ? "no error" : problem.error().to_string();
}

TEST(ProblemTensors, written_numbers_become_a_captured_tensor) {
  const auto problem = with({"slopes=[0.5, 1]", "flags = [[True, False], [False, True]]", "limit=7"}, MemoryFiles());
  ASSERT_TRUE(problem.has_value()) << problem.error().to_string();
  ASSERT_EQ(problem->captures.size(), 3U);
  EXPECT_EQ(problem->captures[0].declared.dtype, DType::f32);
  EXPECT_EQ(problem->captures[0].declared.axes, (std::vector<std::string>{"slopes_dim0"}));
  EXPECT_EQ(problem->captures[1].declared.dtype, DType::boolean);
  EXPECT_EQ(problem->captures[1].declared.axes.size(), 2U);
  EXPECT_EQ(problem->captures[2].declared.dtype, DType::i32);
  EXPECT_EQ(problem->primary().axes.at("slopes_dim0"), 2);
}

TEST(ProblemTensors, files_lie_anywhere_and_are_stored_with_the_problem) {
  MemoryFiles files;
  files.all["/elsewhere/ids.npy"] = npy("<i4", std::string("\0\0\0\0\1\0\0\0\2\0\0\0", 12));
  files.all["more.npy"] = npy("<f4", std::string(12, '\0'));
  const auto problem = with({"ids=/elsewhere/ids.npy", "more=more.npy"}, files);
  ASSERT_TRUE(problem.has_value()) << problem.error().to_string();
  EXPECT_EQ(problem->captures[0].declared.dtype, DType::i32);
  EXPECT_EQ(problem->captures[0].declared.high, 2.0);
  EXPECT_EQ(problem->captures[1].declared.dtype, DType::f32);
  const auto again = read_again(*problem->source);
  ASSERT_TRUE(again.has_value()) << again.error().to_string();
  EXPECT_EQ(again->id(), problem->id());
}

TEST(ProblemTensors, axes_may_be_named) {
  const auto problem = with({"slopes[Hq]=[0.5, 0.25]"}, MemoryFiles());
  ASSERT_TRUE(problem.has_value()) << problem.error().to_string();
  EXPECT_EQ(problem->captures[0].declared.axes, (std::vector<std::string>{"Hq"}));
  EXPECT_NE(refusal("slopes[Hq]=[0.5, 0.25, 0.125]").find("tensor slopes has 3 values along Hq, but Hq = 2"),
            std::string::npos);
  EXPECT_NE(refusal("slopes[Hq,B]=[0.5, 0.25]").find("[capture.values]"), std::string::npos);
}

TEST(ProblemTensors, other_texts_are_refused) {
  EXPECT_EQ(refusal("slopes"),
            "--tensor \"slopes\" has no '=' [problem.value]\n  while reading --tensor \"slopes\"\n"
            "  try: write NAME=FILE.npy, 'NAME=[0, 5, 9]', or with axes 'NAME[B,Skv]=FILE.npy'");
  for (const std::string bad : {"=3", "a b=3", "x=", "x=abc", "x=[1,", "x=[1]\ny=3", "x[=3", "x[B=3", "x={a=1}"}) {
    EXPECT_NE(refusal(bad), "no error") << bad;
  }
  EXPECT_NE(refusal("x=none.npy").find("none.npy is not there"), std::string::npos);
  EXPECT_NE(refusal("Hq=[1, 2]"), "no error");
  const auto twice = with({"x=[1]", "x=[2]"}, MemoryFiles());
  ASSERT_FALSE(twice.has_value());
  EXPECT_EQ(twice.error().message, "--tensor \"x=[2]\" names a tensor that the problem has already");
}

}  // namespace
}  // namespace kw
