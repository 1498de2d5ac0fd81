#include "program/stages/same_program.hpp"

#include <gtest/gtest.h>

#include "program/testing/module_text.hpp"

namespace kw {
namespace {

/// Of a module of x [A] and y [B], first with the axes that stand in the file.
std::string difference(const std::string& forward, const Axes& axes, const Axes& other) {
  const std::string text = program_test::module_text("return " + forward, "torch.randn(A, 3), torch.randn(B, 3)") +
                           fmt::format("A = {}\nB = {}\n", axes.at("A"), axes.at("B"));
  const ProgramOptions options{"Model", other, ProgramMode::train, std::vector<std::string>{"A", "B"}};
  const auto first = read_program(text, "m.py").value();
  const auto second = read_program(text, "m.py", options);
  if (!second) return second.error().to_string();
  const auto same = check_same_program(first, *second, other);
  return same ? "" : same.error().to_string();
}

TEST(SameProgram, is_another_one_where_an_axis_is_repeated_in_one_of_them_alone) {
  const std::string repeats =
      "10:18: add reads other elements of its operands when the axes are A=4 B=4 [program.structure]\n"
      "  try: an axis of extent 1 is repeated along another one: leave it 1, or set both to the same value";
  EXPECT_EQ(difference("x + more[0]", {{"A", 4}, {"B", 1}}, {{"A", 4}, {"B", 4}}), repeats);
  EXPECT_NE(difference("x + more[0]", {{"A", 4}, {"B", 4}}, {{"A", 4}, {"B", 1}}), "");
  EXPECT_NE(difference("x + more[0]", {{"A", 4}, {"B", 4}}, {{"A", 1}, {"B", 4}}), "");
}

TEST(SameProgram, is_the_same_where_sizes_alone_change) {
  EXPECT_EQ(difference("x + more[0]", {{"A", 4}, {"B", 4}}, {{"A", 7}, {"B", 7}}), "");
  EXPECT_EQ(difference("x + more[0]", {{"A", 4}, {"B", 1}}, {{"A", 9}, {"B", 1}}), "");
  EXPECT_EQ(difference("torch.softmax(x, 0) @ more[0].T", {{"A", 4}, {"B", 5}}, {{"A", 1}, {"B", 2}}), "")
      << "an axis of extent 1 that nothing is repeated along";
  EXPECT_EQ(difference("x * 2", {{"A", 1}, {"B", 5}}, {{"A", 3}, {"B", 2}}), "");
}

TEST(SameProgram, compares_what_has_no_kernels_by_its_graph) {
  EXPECT_EQ(difference("torch.digamma(x)", {{"A", 4}, {"B", 5}}, {{"A", 1}, {"B", 2}}), "");
}

}  // namespace
}  // namespace kw
