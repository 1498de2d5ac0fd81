// What the oracle says of the cost of rows: by it a check decides how many of them are answered.

#include <gtest/gtest.h>

#include "operators/program/parts.hpp"
#include "problem/operator.hpp"

namespace kw {
namespace {

Problem problem_of(const std::string& forward) {
  const std::string module = R"(import torch
import torch.nn as nn
import torch.nn.functional as F
class Model(nn.Module):
    def __init__(self):
        super().__init__()
    def forward(self, x):
        return )" + forward + R"(
N = 4
C = 16
H = 64
W = 32
def get_inputs():
    return [torch.rand(N, C, H, W)]
)";
  const auto text = program_problem_text({module, "some/rows.py", "", "", {}, {1e12, 1e12}});
  KW_CHECK(text.has_value(), "{}", text.error().to_string());
  auto problem = parse_problem(*text, "some/rows.py");
  KW_CHECK(problem.has_value(), "{}", problem.error().to_string());
  return *std::move(problem);
}

/// Times what the whole answer costs, in elements.
double times_apart(const std::string& forward) {
  const Problem problem = problem_of(forward);
  const auto elements = static_cast<double>(element_count(problem.outputs[0], problem.primary().axes).value());
  const AnswerWork apart = program_sampling().rows(problem, problem.primary().axes, {1e9, elements}).apart;
  EXPECT_EQ(apart.flops, 1e9);
  return apart.elements / elements;
}

TEST(ProgramSampling, counts_rows_that_follow_from_little_as_the_whole_answer) {
  EXPECT_EQ(times_apart("F.relu(x)"), 1);
  EXPECT_LT(times_apart("F.avg_pool2d(x, 2)"), 1.1);
}

/// The row of one channel reads those of all.
TEST(ProgramSampling, counts_what_each_row_follows_from) {
  EXPECT_NEAR(times_apart("torch.softmax(F.max_pool2d(x, 2), 1)"), 16 + 1, 1);
}

/// Of a few rows there is nothing to choose.
TEST(ProgramSampling, counts_nothing_where_all_rows_are_answered) {
  EXPECT_EQ(times_apart("torch.softmax(F.max_pool2d(x, 2), 1).sum((1, 2, 3))"), 1);
}

}  // namespace
}  // namespace kw
